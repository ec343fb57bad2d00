import Testing
@Suite struct MobileSyncPlaceholder {}
