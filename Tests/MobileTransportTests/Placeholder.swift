import Testing
@Suite struct MobileTransportPlaceholder {}
