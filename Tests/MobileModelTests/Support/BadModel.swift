import MobileModel
import TestSupport
import Testing

/// A change that makes the shop's model invalid, and the resulting problem.
struct BadModel: Sendable, CustomTestStringConvertible {
    let part: String
    let replacement: String
    /// The path of the problem.
    let path: String
    let message: String

    init(_ part: String, _ replacement: String, _ path: String, _ message: String) {
        (self.part, self.replacement, self.path, self.message) = (part, replacement, path, message)
    }

    var testDescription: String { "\(path): \(message)" }

    /// Returns the problems of reading the invalid model.
    func problems() throws -> [ModelProblem] {
        let json = try ShopModelText.json(replacing: part, with: replacement)
        do {
            _ = try PackageModel(json: json, file: "shop.mbo.json")
            return []
        } catch {
            return error.problems
        }
    }
}
