public import MobileStore

extension RhoConnectClient {
    /// The form of the server's URLs. Both carry version 3 of the protocol. RhoConnect: `rc_protocol_version`.
    public enum ProtocolStyle: Int, Sendable {
        /// The configured URL ends in `/application`; for all servers.
        case version3 = 3
        /// The configured URL is the server's root; for servers from 4.0 on.
        case version4 = 4
    }

    /// The progress of a bulk synchronization. RhoConnect: `bulksync_state`.
    public enum BulkSyncState: Int, Sendable {
        /// The next synchronization begins with a bulk synchronization.
        case notSynchronized = 0
        /// The data is there.
        case done = 1
        /// The data is there, files of BLOB attributes are missing.
        case loadingBlobs = 2
    }

    /// The weight of a log line. RhoConnect: `log_severity`.
    public enum LogSeverity: Int, Sendable, Comparable {
        /// Each request and page.
        case trace = 0
        /// The beginning and the end of work.
        case info = 1
        /// A failure that does not end the work.
        case warning = 2
        /// A failure.
        case error = 3
        /// Nothing is as heavy: no line is written.
        case off = 4

        /// Whether a line weighs less.
        public static func < (left: LogSeverity, right: LogSeverity) -> Bool { left.rawValue < right.rawValue }
    }

    /// The settings of a client that seldom differ from their defaults.
    public struct Settings: Sendable {
        /// The number of objects of a page, 1 or more; default 2000. RhoConnect: `p_size`.
        public var pageSize = 2000
        /// The longest response that is kept in memory, in bytes; default 64 MB. Files are not bounded by it.
        public var maximumResponse: ByteCount = .megabytes(64)
        /// The maximum time of a request; default 180 s.
        public var requestTimeout: Duration = .seconds(180)
        /// A text that is appended to the URL of each query, such as `query[color]=red`; its values are percent-encoded. Default: empty.
        public var queryParameters = ""
        /// The time between two questions whether a bulk file is ready; default 5 s. RhoConnect: `bulksync_timeout_sec`.
        public var bulkInterval: Duration = .seconds(5)
        /// The number of these questions before the bulk synchronization fails; default 120. Servers may answer `wait` without end.
        public var bulkAttempts = 120
        /// The longest bulk file, unpacked; default 1 GB.
        public var maximumBulkFile: ByteCount = .megabytes(1000)
        /// The number of uploads without changes that are sent for new objects without an answer; default 3. The server works off the rest of an interrupted
        /// batch with them. ``RhomModel/unconfirmedCreates()`` lists the objects.
        public var createAttempts = 3

        /// Makes the default settings.
        public init() {}
    }

    /// The device, for push notifications. RhoConnect: the fields of `clientregister`.
    public struct Device: Sendable, Hashable {
        /// The token of the push service. RhoConnect: `device_pin`.
        public var pin: String
        /// The service, such as `apple` or `fcm`. RhoConnect: `device_push_type`.
        public var pushType: String
        /// The kind of device, such as `APPLE`. RhoConnect: `device_type`.
        public var type: String
        /// The port of the service; empty without one. RhoConnect: `device_port`.
        public var port: String
        /// The id of the telephone; empty without one. RhoConnect: `phone_id`.
        public var phoneID: String
        /// The application's name. RhoConnect: `device_app_id`.
        public var applicationID: String
        /// The application's version. RhoConnect: `device_app_version`.
        public var applicationVersion: String

        /// Makes the description of a device.
        public init(
            pin: String, pushType: String, type: String = "", port: String = "", phoneID: String = "", applicationID: String = "",
            applicationVersion: String = ""
        ) {
            (self.pin, self.pushType, self.type, self.port) = (pin, pushType, type, port)
            (self.phoneID, self.applicationID, self.applicationVersion) = (phoneID, applicationID, applicationVersion)
        }
    }
}
