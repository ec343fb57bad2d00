// MobileObjects
