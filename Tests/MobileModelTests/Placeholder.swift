import Testing
@Suite struct MobileModelPlaceholder {}
