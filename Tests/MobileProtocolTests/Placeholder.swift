import Testing
@Suite struct MobileProtocolPlaceholder {}
