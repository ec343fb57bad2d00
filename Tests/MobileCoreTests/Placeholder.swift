import Testing
@Suite struct MobileCorePlaceholder {}
