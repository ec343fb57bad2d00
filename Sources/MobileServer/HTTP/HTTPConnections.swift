internal import MobileMicrohttpd
internal import Synchronization

/// The connections of a daemon: who gets in, who is refused, who has to go.
final class HTTPConnections: Sendable {
    /// Connections that are let in beyond the limit: to be refused in words instead of being reset, and while those that were cut for
    /// others are on their way out.
    static let room = 256
    /// Refused ones at a time.
    private static let refusals = 32
    /// Seconds in which a connection that is going to be refused must have sent its request.
    private static let refusalSeconds: UInt32 = 5

    private struct State {
        var table: ConnectionTable<UInt>
        var sockets: [UInt: Int32] = [:]
    }
    private let state: Mutex<State>

    init(places: Int) { state = Mutex(State(table: ConnectionTable(places: places, refusals: Self.refusals))) }

    private static func id(_ connection: OpaquePointer) -> UInt { UInt(bitPattern: connection) }

    /// A connection was accepted.
    func open(_ connection: OpaquePointer) {
        let id = Self.id(connection), socket = mhs_descriptor(connection)
        let isRefused = state.withLock { state in
            state.sockets[id] = socket
            let (isRefused, eviction) = state.table.open(id)
            // With the lock held: the socket of a connection that is still in the table is not closed, and its number not given to another.
            switch eviction {
            case .none: break
            // Nothing more comes in: the thread of the connection answers what is there already, then finds the end.
            case .idle(let id): shut(state.sockets[id], .receiving)
            case .refused(let id): shut(state.sockets[id], .both)
            }
            return isRefused
        }
        if isRefused { mhs_set_timeout(connection, Self.refusalSeconds) }
    }

    private func shut(_ socket: Int32?, _ direction: SystemSocket.Direction) {
        if let socket { SystemSocket.shut(socket, direction) }
    }

    /// A connection ends; its socket is still open.
    func close(_ connection: OpaquePointer) {
        let id = Self.id(connection)
        state.withLock { state in
            state.table.close(id)
            state.sockets[id] = nil
        }
    }

    /// A request has come. False where it is to be refused.
    func beginRequest(_ connection: OpaquePointer) -> Bool { state.withLock { $0.table.beginRequest(Self.id(connection)) } }

    /// The request has been answered, or was broken off.
    func endRequest(_ connection: OpaquePointer) { state.withLock { $0.table.endRequest(Self.id(connection)) } }

    /// How many connections are kept open and not used.
    var idleCount: Int { state.withLock { $0.table.idleCount } }
}
