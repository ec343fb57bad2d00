public import MobileObjects
internal import MobileStore

extension PackageDatabase {
    final var changeNotifications: ChangeNotifications { attachment { ChangeNotifications() } }

    /// Begins to synchronize by itself: whenever the server announces changes of a group whose notifications are enabled
    /// (``SynchronizationGroup/enableSIS``), the group is synchronized in the background, unless a callback handler refuses. Returns at once; no effect
    /// if it has begun.
    ///
    ///     var group = try crm.synchronizationGroup(named: "default")
    ///     group.enableSIS = true
    ///     group.interval = .seconds(2)
    ///     try group.save()
    ///     crm.startBackgroundSynchronization()
    ///
    /// Announcements arrive while the application is connected and the package is subscribed. Where no connection lasts, for example behind a proxy
    /// that collects answers, the groups are synchronized each ``SynchronizationProfile/pollingInterval``. A synchronization that fails is repeated
    /// with the delays of the application's ``RetryPolicy``.
    /// SUP 1.5.3: `startBackgroundSynchronization`.
    public final func startBackgroundSynchronization() { changeNotifications.start(self) }

    /// Ends what ``startBackgroundSynchronization()`` has begun, and returns when its connection is closed. A synchronization in progress continues.
    /// Call it before the application goes to the background, or the database is closed. SUP 1.5.3: `stopBackgroundSynchronization`.
    public final func stopBackgroundSynchronization() { changeNotifications.stop() }

    // MARK: The settings of groups

    private static func setting(_ group: String) -> String { "sis/" + group }

    /// Returns the setting of a group; off where there is none.
    final func changeDetection(of group: String) throws -> (isEnabled: Bool, interval: Duration) {
        guard let text = try setting(Self.setting(group))?.text else { return (false, .zero) }
        let json = try JSONValue(parsing: text)
        return (json["enable"]?.boolean ?? false, .milliseconds(json["interval"]?.integer ?? 0))
    }

    /// Stores the setting of a group.
    final func setChangeDetection(of group: String, isEnabled: Bool, interval: Duration) throws(SyncError) {
        guard interval >= .zero, interval <= .seconds(366 * 86_400) else {
            throw SyncError(.synchronize, .invalidState, "interval of group \"\(group.prefix(80))\": \(interval) is not between 0 and 366 days")
        }
        let json: JSONValue = ["enable": .boolean(isEnabled), "interval": .integer(Int64(interval / .milliseconds(1)))]
        try SyncError.local("save group \"\(group)\"") {
            try write("change detection of \(group)") { try $0.setSetting(Self.setting(group), .text(json.description)) }
        }
        changeNotifications.reconsider()
    }

    /// The groups whose notifications are enabled, in the order of the model.
    final func notifiedGroups() throws(SyncError) -> [String] {
        try SyncError.local("read the groups of \(metadata.name)") {
            try metadata.synchronizationGroups.filter { group in
                let (isEnabled, interval) = try changeDetection(of: group)
                return isEnabled && interval > .zero
            }
        }
    }
}
