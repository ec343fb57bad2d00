import Testing
@Suite struct MobileObjectsPlaceholder {}
