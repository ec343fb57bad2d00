internal import Foundation
public import MobileStore

/// The result of a procedure: the object that the adapter returned. Worklight 5.0.6: class `WLProcedureInvocationResult`.
public final class WLProcedureInvocationResult: Sendable {
    private let body: ResponseBody

    /// nil for an answer without a JSON object.
    init?(_ body: ResponseBody) {
        guard body.document != nil else { return nil }
        self.body = body
    }

    /// Whether the procedure succeeded: its member `isSuccessful` is true, or the text `true` in any case of letters. Worklight 5.0.6: `isSuccessful`.
    public var isSuccessful: Bool {
        guard let member = body.member("isSuccessful") else { return false }
        return member.boolean ?? (member.string?.lowercased() == "true")
    }

    /// The texts of the procedure's failures, in order; a single text is a list of one. Worklight 5.0.6: `procedureInvocationErrors`.
    public var procedureInvocationErrors: [String] {
        guard let errors = body.member("errors") else { return [] }
        if let text = errors.string { return [text] }
        return errors.isArray ? errors.map { $0.string ?? $0.value.description } : []
    }

    /// The whole object. Integers and other numbers stay apart. Worklight 5.0.6: `response`.
    public var response: JSONObject { body.object ?? [:] }

    /// Reads the object, or one member of it, as a type of the application.
    /// - Parameters:
    ///   - type: the type.
    ///   - member: the name of a member, such as `resultSet`; nil (default) for the whole object.
    /// - Throws: `DecodingError` if a value does not fit, or the member does not exist.
    public func decode<T: Decodable>(_ type: T.Type = T.self, member: String? = nil) throws -> T {
        let value: JSONValue
        if let member {
            guard let found = body.member(member) else {
                throw DecodingError.valueNotFound(type, .init(codingPath: [], debugDescription: "the result has no member \(member)"))
            }
            value = found.value
        } else {
            value = .object(response)
        }
        return try JSONDecoder().decode(type, from: Data(value.bytes))
    }
}
