import Testing
@Suite struct MobileServerPlaceholder {}
