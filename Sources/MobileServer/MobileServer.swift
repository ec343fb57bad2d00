// MobileServer
