// MobileSync
