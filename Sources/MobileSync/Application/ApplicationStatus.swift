/// How far the registration of an application has come. SMP 2.3: `SUPRegistrationStatus`, whose numbers these are.
public enum RegistrationStatus: Int, Sendable, CaseIterable {
    /// It could not be created or deleted. Permanent: call `register` or `unregister` again.
    case registrationError = 201
    case registering = 202
    case registered = 203
    case unregistering = 204
    /// Deleted, or there never was one.
    case unregistered = 205
}

/// How far the connection of an application has come. SMP 2.3: `SUPConnectionStatus`, whose numbers these are.
public enum ConnectionStatus: Int, Sendable, CaseIterable {
    /// It could not be started, or broke. Temporary: resolved by itself when the network is back.
    case connectionError = 101
    case connecting = 102
    case connected = 103
    case disconnecting = 104
    /// Stopped, or there never was one.
    case disconnected = 105
    /// Suspended until the server wakes it by a notification; normal on platforms that close idle connections.
    case notificationWait = 106
}

/// A condition of the device. SMP 2.3: `SUPDeviceCondition`, whose numbers these are.
public enum DeviceCondition: Int, Sendable, CaseIterable {
    case batteryPowerLow = 301
    case batteryPowerRecovered = 302
    case storageSpaceLow = 303
    case storageSpaceRecovered = 304
}
