internal import MobileExecution
internal import MobileTransport

/// Header fields in order; setting one that exists, in any case of letters, replaces it.
struct HeaderFields {
    private(set) var all: [(name: String, value: String)] = []

    subscript(name: String) -> String? {
        get { place(of: name).map { all[$0].value } }
        set {
            switch (place(of: name), newValue) {
            case (let place?, let newValue?): all[place].value = newValue
            case (let place?, nil): all.remove(at: place)
            case (nil, let newValue?): all.append((name, newValue))
            case (nil, nil): break
            }
        }
    }

    private func place(of name: String) -> Int? { all.firstIndex { $0.name.isField(name) } }
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
