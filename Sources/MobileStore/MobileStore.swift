// MobileStore
