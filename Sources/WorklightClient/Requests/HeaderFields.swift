internal import MobileExecution

/// Header fields in order; setting one that exists, in any case of letters, replaces it.
struct HeaderFields {
    private(set) var all: [(name: String, value: String)] = []

    subscript(name: String) -> String? {
        get { all.first { $0.name.lowercased() == name.lowercased() }?.value }
        set {
            guard let newValue else { return all.removeAll { $0.name.lowercased() == name.lowercased() } }
            if let place = all.firstIndex(where: { $0.name.lowercased() == name.lowercased() }) {
                all[place].value = newValue
            } else {
                all.append((name, newValue))
            }
        }
    }
}

/// The header fields that the application adds to each request, and the anti-XSRF value.
final class GlobalHeaders: Sendable {
    private struct State {
        var fields = HeaderFields()
        var instanceID: String?
    }
    private let state = SystemLock(State())

    var instanceID: String? {
        get { state.withLock { $0.instanceID } }
        set { state.withLock { $0.instanceID = newValue } }
    }

    func set(_ name: String, _ value: String?) { state.withLock { $0.fields[name] = value } }

    func add(to fields: inout HeaderFields) {
        for (name, value) in state.withLock({ $0.fields.all }) { fields[name] = value }
    }
}
