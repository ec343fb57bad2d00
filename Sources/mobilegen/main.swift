print("mobilegen")
