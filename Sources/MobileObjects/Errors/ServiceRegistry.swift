import Synchronization

/// The services that an application, or this framework, looks up by the protocol that they implement. Each environment has one; there is
/// none for the whole process, so that two applications in it can speak two languages. SMP 2.3: `SUPServiceRegistry`.
///
///     services.register(MyTexts(), for: (any ErrorMessageService).self)
public final class ServiceRegistry: Sendable {
    private let services = Mutex<[ObjectIdentifier: any Sendable]>([:])

    /// A registry with nothing in it.
    public init() {}

    /// A registry with the default service for the texts of errors.
    public static func standard() -> ServiceRegistry {
        let registry = ServiceRegistry()
        registry.register(MessageBundles(), for: (any ErrorMessageService).self)
        return registry
    }

    /// Puts an implementation in place of the one that was registered for the protocol, if any. SMP 2.3:
    /// `registerService:withImplementation:`.
    /// - Returns: the one before.
    @discardableResult
    public func register<Service: Sendable>(_ implementation: Service, for service: Service.Type) -> Service? {
        services.withLock { $0.updateValue(implementation, forKey: ObjectIdentifier(service)) } as? Service
    }

    /// Forgets the implementation of a protocol. SMP 2.3: `unregisterService:`.
    /// - Returns: the one that was registered; nil where there was none.
    @discardableResult
    public func unregister<Service: Sendable>(_ service: Service.Type) -> Service? {
        services.withLock { $0.removeValue(forKey: ObjectIdentifier(service)) } as? Service
    }

    /// The implementation of a protocol; nil where none is registered. SMP 2.3: `getService:`.
    public func service<Service: Sendable>(_ service: Service.Type) -> Service? {
        services.withLock { $0[ObjectIdentifier(service)] } as? Service
    }
}
