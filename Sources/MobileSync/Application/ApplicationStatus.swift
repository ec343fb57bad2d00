/// The status of an application's registration. SMP 2.3: `SUPRegistrationStatus`, with the same numbers.
public enum RegistrationStatus: Int, Sendable, CaseIterable {
    /// It could not be created or deleted. Permanent: call `register` or `unregister` again.
    case registrationError = 201
    case registering = 202
    case registered = 203
    case unregistering = 204
    /// Deleted, or never created.
    case unregistered = 205
}

/// The status of an application's connection. SMP 2.3: `SUPConnectionStatus`, with the same numbers.
public enum ConnectionStatus: Int, Sendable, CaseIterable {
    /// It could not be started, or was lost. Temporary: it recovers by itself when the network is back.
    case connectionError = 101
    case connecting = 102
    case connected = 103
    case disconnecting = 104
    /// Stopped, or never started.
    case disconnected = 105
    /// Suspended until the server wakes it by a notification; normal on platforms that close idle connections.
    case notificationWait = 106
}

/// A condition of the device. SMP 2.3: `SUPDeviceCondition`, with the same numbers.
public enum DeviceCondition: Int, Sendable, CaseIterable {
    case batteryPowerLow = 301
    case batteryPowerRecovered = 302
    case storageSpaceLow = 303
    case storageSpaceRecovered = 304
}
