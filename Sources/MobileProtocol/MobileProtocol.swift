// MobileProtocol
