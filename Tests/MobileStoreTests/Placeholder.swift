import Testing
@Suite struct MobileStorePlaceholder {}
