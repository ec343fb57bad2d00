internal import MobileExecution
internal import MobileObjects

/// The packages that use an application. It keeps none of them alive.
final class ApplicationPackages: Sendable {
    private struct Entry: Sendable { weak let package: PackageDatabase? }
    private let entries = SystemLock<[Entry]>([])

    func add(_ package: PackageDatabase) {
        entries.withLock { entries in
            entries.removeAll { $0.package == nil || $0.package === package }
            entries.append(Entry(package: package))
        }
    }

    func remove(_ package: PackageDatabase) {
        entries.withLock { $0.removeAll { $0.package == nil || $0.package === package } }
    }

    /// Lets the packages look at the connection again, before the next attempt to listen is due.
    func reconsiderNotifications() {
        for package in entries.withLock({ $0.compactMap(\.package) }) { package.changeNotifications.reconsider() }
    }

    /// Notifies the handlers of the packages in the terms of the 1.5.3 client.
    func report(_ status: ConnectionStatus) {
        reconsiderNotifications()
        guard let status = MessagingConnectionStatus(status) else { return }
        for package in entries.withLock({ $0.compactMap(\.package) }) { package.notify { $0.onConnectionStatusChange(status, .alwaysOn) } }
    }
}

extension MessagingConnectionStatus {
    /// The corresponding status of the 1.5.3 client; nil for intermediate steps, which that client did not report.
    init?(_ status: ConnectionStatus) {
        switch status {
        case .connected: self = .connected
        case .disconnected: self = .disconnected
        case .connectionError: self = .waitingToRetry
        case .connecting, .disconnecting, .notificationWait: return nil
        }
    }
}
