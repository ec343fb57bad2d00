internal import Foundation

/// Settings of a run of tests that are numbers in the environment: `FAULT_STEP=1 swift test`.
public enum TestSetting {
    /// Returns the number in a variable; nil when the variable is missing or has another value.
    public static func number<Number: LosslessStringConvertible>(_ name: String) -> Number? {
        ProcessInfo.processInfo.environment[name].flatMap { Number($0) }
    }
}

/// The seeds of random histories of restores: `RESTORE_FIRST` in the environment (default 0), and seven more, or as many as `RESTORE_COUNT` says.
public enum RestoreSeeds {
    /// The seeds.
    public static let range: Range<Int> = {
        let first: Int = TestSetting.number("RESTORE_FIRST") ?? 0
        return first..<first + (TestSetting.number("RESTORE_COUNT") ?? 8)
    }()
}

/// Sizes of pages and caches for the tests of the core and of the store. `make soak` runs them with several sizes: a test that depends on the
/// defaults asks for ``areUsual``.
public enum TestDefaults {
    /// `CORE_PAGE_SIZE` in the environment, in bytes.
    public static let pageSize: Int? = TestSetting.number("CORE_PAGE_SIZE")
    /// `CORE_CACHE_PAGES` in the environment.
    public static let cachePages: Int? = TestSetting.number("CORE_CACHE_PAGES")
    /// Whether the tests run with the default sizes.
    public static var areUsual: Bool { pageSize == nil && cachePages == nil }
}
