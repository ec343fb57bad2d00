import Foundation
import TestSupport
import Testing

/// In asynchronous code no call blocks a thread without a word: the compiler takes the `async` form, or refuses the blocking one.
@Suite struct BlockingCallTests {
    /// Calls of both forms, without `try` and `await`.
    private static let calls = [
        "CRM.open(ConnectionProfile(path: \"crm.db\"))", "customer.save()", "customer.submitPending()", "customer.refresh()", "customer.delete()",
        "customer.conflict()", "customer.orders.all()", "Customer.findAll(in: crm)", "Customer.findByCity(city: \"Cork\", in: crm)",
        "Customer.where(\\.city == \"Cork\").find(in: crm)", "crm.customers.find()", "crm.customers.where(\\.city == \"Cork\").count()",
        "customer.raiseCreditLimit(amount: 1)", "crm.hasPendingOperations()", "crm.closeConnection()", "crm.lostOperations()",
        "crm.logger.info(\"visited\")", "Customer.subscriptions(in: crm)", "crm.synchronize()", "crm.subscribe()", "crm.isSubscribed()",
        "application.register(timeout: .seconds(1))", "application.startConnection(timeout: .seconds(1))", "application.close()",
    ]

    private static let imports = "import MobileObjects\nimport MobileStore\nimport MobileSync\n\n"

    /// A program with its calls in lines of their own. `before` precedes each call.
    private static func program(_ calls: [String], before: String, _ head: String, _ tail: String) -> String {
        imports + "private func made<T>() -> T { fatalError() }\n" + head + calls.map { "_ = \(before) \($0)\n" }.joined() + tail
    }

    private static let context = "let crm: CRM = made(), customer: Customer = made(), application: Application = made()\n"
    private static let contexts: [(name: String, file: String, head: String, tail: String)] = [
        ("an async function", "Function.swift", "func run() async throws {\n" + context, "}\n"),
        ("a main function", "Program.swift", "@main struct Program { static func main() async throws {\n" + context, "} }\n"),
        ("a task", "Task.swift", "func start() { Task {\n" + context, "} }\n"),
    ]

    /// A program of all contexts, a file for each.
    private static func contextFiles(before: String) -> [String: String] {
        Dictionary(uniqueKeysWithValues: contexts.map { ($0.file, program(calls, before: before, $0.head, $0.tail)) })
    }

    @Test func `with await, each call takes the form that does not block, without a warning`() throws {
        #expect(try OutsideCode().check(Self.contextFiles(before: "try await"), warnings: true) == "")
    }

    @Test func `without await, each call is refused in an async function, in main, and in a task`() throws {
        let files = Self.contextFiles(before: "try"), messages = try OutsideCode().check(files)
        #expect(files.count == Self.contexts.count)
        for context in Self.contexts { expectRefusals(of: files[context.file] ?? "", as: context.file, messages, context.name) }
    }

    /// Swift takes the blocking forms there, with and without `await`.
    @Test func `at the top level of a program with await each call is refused, and the message says what to do`() throws {
        let code = try OutsideCode()
        for before in ["try", "try await"] {
            let text = Self.program(Self.calls, before: before, Self.context + "await Task.yield()\n", "")
            let messages = try code.check(text, as: "main.swift")
            expectRefusals(of: text, as: "main.swift", messages, "\(before) at the top level")
            #expect(messages.contains("is unavailable from asynchronous contexts; it blocks the thread: write `try await`, in an async function"))
        }
    }

    @Test func `in code that is not asynchronous each call is the blocking one, also at the top level`() throws {
        let code = try OutsideCode()
        let function = Self.program(Self.calls, before: "try", "func run() throws {\n" + Self.context, "}\n")
        let program = Self.program(Self.calls, before: "try", Self.context, "")
        #expect(try code.check(["Code.swift": function, "main.swift": program], warnings: true) == "")
    }

    @Test func `a loop reads a query, in asynchronous code and in blocking code`() throws {
        let code = try OutsideCode()
        let chain = "crm.customers.where(\\.city == \"Cork\").where({ $0.name.contains(\"a\") }).ordered(by: \\.name).limit(3)"
        let ordered = "crm.customers.where(\\.city == \"Cork\").ordered(by: \\.name)"
        let asynchronous = """
            \(Self.imports)func run(_ crm: CRM) async throws {
                for customer in try await \(ordered) { print(customer.name) }
                for try await customer in \(ordered) { print(customer.name) }
                for customer in try await \(chain).find() { print(customer.name) }
                for try await customer in \(chain) { print(customer.name) }
                let query = \(chain)
                let objects = try await query.find()
                print(objects.count, try await query.count(), try await query.first()?.name ?? "")
                let kept = crm.customers.sorted(by: \\.name), typed: EntitySet<Customer> = \(ordered)
                print(kept == typed, try await \(ordered).count(), try await \(ordered).first()?.name ?? "")
                print(try await \(ordered).contains { $0.name.isEmpty }, try await \(ordered).map(\\.name))
                print(try await \(ordered).first { $0.name.isEmpty }?.name ?? "", try await \(ordered).reduce(0) { $0 + $1.name.count })
                for try await name in \(ordered).map({ $0.name }) { print(name) }
                for try await page in \(ordered).pages(size: 2) { print(page.count) }
                for try await snapshot in \(ordered).observe() { print(snapshot.count) }
            }

            """
        let unread = "\(Self.imports)func forget(_ crm: CRM) async throws {\n    let query = \(ordered)\n    print(query)\n}\n"
        let blocking = "\(Self.imports)func block(_ crm: CRM) throws {\n    let query = \(ordered)\n    for customer in try query.find() { print(customer.name) }\n    for customer in try \(chain).find() { print(customer.name) }\n}\n"
        let messages = try code.check(["Asynchronous.swift": asynchronous, "Blocking.swift": blocking], warnings: true)
        #expect(messages == "", "\(messages)")
        // At the top level of a program, a loop is enough to make the code asynchronous.
        let top = "\(Self.imports)func made<T>() -> T { fatalError() }\n\(Self.context)for found in try await \(ordered) { print(found.name) }\n"
        let refusals = try code.check(top, as: "main.swift")
        #expect(refusals == "", "\(refusals)")
        let silent = "\(Self.imports)func look(_ crm: CRM) async throws {\n    for customer in try \(chain).find() { print(customer.name) }\n}\n"
        let faults = try code.check(["Unread.swift": unread, "Silent.swift": silent]).split(separator: "\n")
        #expect(faults.contains { $0.contains("Unread.swift:") && $0.contains("is 'async' but is not marked with 'await'") })
        #expect(faults.contains { $0.contains("Silent.swift:6:") })
    }

    /// Every call has an error in its line.
    private func expectRefusals(of text: String, as file: String, _ messages: String, _ context: String) {
        let refusals = ["is unavailable from asynchronous contexts", "is 'async' but is not marked with 'await'"]
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() where line.hasPrefix("_ = ") {
            let errors = messages.split(separator: "\n").filter { $0.contains("\(file):\(number + 1):") && $0.contains("error:") }
            #expect(errors.contains { error in refusals.contains { error.contains($0) } }, "\(context): \(line)\n\(errors)")
        }
    }
}
