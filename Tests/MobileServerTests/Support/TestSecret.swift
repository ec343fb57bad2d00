import MobileExecution

/// A password, or another secret, that a test changes while a server is configured with it.
final class TestSecret: Sendable {
    private let secret: SystemLock<String>

    init(_ secret: String) { self.secret = SystemLock(secret) }

    var current: String {
        get { secret.withLock { $0 } }
        set { secret.withLock { $0 = newValue } }
    }
}
