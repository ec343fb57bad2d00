internal import MobileExecution
internal import MobileMicrohttpd

/// The connections of a daemon: which ones are accepted, which are refused, and which have to close.
final class HTTPConnections: Sendable {
    /// The number of connections that are accepted beyond the limit: those that receive a refusal instead of a reset, and those that were cut for
    /// others and are about to close.
    static let room = 256
    /// The maximum number of refused connections at a time.
    private static let refusals = 32
    /// The time within which a connection that will be refused must have sent its request, in seconds.
    private static let refusalSeconds: UInt32 = 5

    private struct State {
        var table: ConnectionTable<UInt>
        var sockets: [UInt: Int32] = [:]
    }
    private let state: SystemLock<State>

    init(places: Int) { state = SystemLock(State(table: ConnectionTable(places: places, refusals: Self.refusals))) }

    private static func id(_ connection: OpaquePointer) -> UInt { UInt(bitPattern: connection) }

    /// Adds an accepted connection.
    func open(_ connection: OpaquePointer) {
        let id = Self.id(connection), socket = mhs_descriptor(connection)
        let isRefused = state.withLock { state in
            state.sockets[id] = socket
            let (isRefused, eviction) = state.table.open(id)
            // With the lock held: the socket of a connection that is still in the table is not closed, so its number belongs to no other one.
            switch eviction {
            case .none: break
            // No further input: the thread of the connection answers the request that has arrived, then finds the end.
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

    /// Removes a connection that ends; its socket is still open.
    func close(_ connection: OpaquePointer) {
        let id = Self.id(connection)
        state.withLock { state in
            state.table.close(id)
            state.sockets[id] = nil
        }
    }

    /// Notes the beginning of a request. Returns false if it is to be refused.
    func beginRequest(_ connection: OpaquePointer) -> Bool { state.withLock { $0.table.beginRequest(Self.id(connection)) } }

    /// Notes that the request has been answered, or was aborted.
    func endRequest(_ connection: OpaquePointer) { state.withLock { $0.table.endRequest(Self.id(connection)) } }

    /// The number of connections that are open but idle.
    var idleCount: Int { state.withLock { $0.table.idleCount } }
}
