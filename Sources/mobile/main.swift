print("mobile")
