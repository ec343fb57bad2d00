internal import MobileProtocol
internal import MobileStore

/// The paths for load balancers and supervisors. They need no session.
enum HealthEndpoint {
    /// `GET`: the process answers.
    static let live = "/live"
    /// `GET`: the server can work: its cache and all its back ends answer, and it is not about to stop.
    static let ready = "/ready"
}

extension MobileServer {
    /// Returns the way of a request to its answer. Waits for nothing.
    func route(of request: ServerRequest) -> HTTPApplication.Route {
        // A traced request writes a line, and a log may block.
        let isTraced = request.headers["sap-passport"] != nil || configuration.requestTrace.tracesAll
        switch request.path {
        case HealthEndpoint.live where !isTraced: return .life
        case HealthEndpoint.ready: return .readiness
        case Endpoint.status where !isTraced: return .immediate
        case Endpoint.synchronize: return .lane(.synchronizations)
        case let path where ContentService.name(in: path) != nil && request.bearerToken != nil: return .lane(.contents)
        default: return .lane(request.bearerToken == nil ? .strangers : .messages)
        }
    }

    /// Returns the parts of a server that must answer, with a check of each.
    static func parts(of packages: [ServedPackage], _ state: any StateStore) -> [ReadinessProbe.Part] {
        let backEnds = packages.flatMap { package in
            package.deployed.backEnds.values.sorted { $0.name < $1.name }.map { backEnd in
                ReadinessProbe.Part(kind: "back end", name: "back end \"\(backEnd.name)\" of \(package.deployed.identifier)") {
                    try backEnd.system.ping()
                }
            }
        }
        let cache = ReadinessProbe.Part(kind: "cache", name: "cache") { try state.read { try $0.exists("SELECT 1 FROM _package") } }
        let objects = packages.flatMap { $0.cache.objectIDs.values }
        let quarantine = ReadinessProbe.Part(kind: "quarantine", name: "quarantine", isWarning: true) {
            let isEmpty = try state.read { connection in try !objects.contains { try Quarantine.hasRows(of: $0, in: connection) } }
            if !isEmpty { throw Quarantine.NotEmpty() }
        }
        return [cache] + backEnds + [quarantine]
    }
}
