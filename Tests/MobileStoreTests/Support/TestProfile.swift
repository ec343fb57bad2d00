import MobileStore
import TestSupport

extension TemporaryDirectory {
    /// A profile for `test.db` in this directory.
    func profile(_ change: (inout ConnectionProfile) -> Void = { _ in }) -> ConnectionProfile {
        var profile = ConnectionProfile(path: file("test.db"))
        TestDefaults.apply(to: &profile)
        change(&profile)
        return profile
    }
}

extension TestDefaults {
    static func apply(to profile: inout ConnectionProfile) {
        if let pageSize { profile.pageSize = pageSize }
        if let cachePages { profile.cacheSize = .bytes(cachePages * (pageSize ?? 4096)) }
    }
}
