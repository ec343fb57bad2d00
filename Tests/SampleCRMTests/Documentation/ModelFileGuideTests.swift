import Foundation
import MobileObjects
import SampleCRM
import Testing

/// The calls in the article *The model file* are the code between the marks below, and they run.
@Suite struct ModelFileGuideTests {
    private let example: ExampleCRM
    private let crm: CRM

    init() throws {
        example = try ExampleCRM()
        crm = example.crm
    }

    @Test func `personalization keys, subscriptions, finders and operations`() throws {
        // Example: personalization
        var keys = try crm.personalizationParameters
        keys.region = "SOUTH"
        try keys.save()  // the next synchronization sends it
        // Example: end
        #expect(try crm.personalizationParameters.region == "SOUTH")

        // Example: subscription
        try Customer.addSubscription(CustomerSubscription(region: "SOUTH"), in: crm)
        // Example: end
        #expect(try Customer.subscriptions(in: crm).map(\.region) == ["SOUTH"])

        // Example: finders
        let inCork = try Customer.findByCity(city: "Cork", in: crm)
        let inn = try Customer.findByName(name: "Castle Inn", in: crm)
        // Example: end
        #expect(inCork.map(\.name) == ["Castle Inn", "Mill & Sons"] && inn?.city == "Cork")

        let customer = try #require(inn)
        // Example: operation
        let raise = try customer.raiseCreditLimit(amount: 500)
        try raise.submitPending()
        // Example: end
        #expect(raise.isPending && raise.amount == 500 && raise.customerId == customer.id_)
    }

    @Test func `large values`() throws {
        let parts: [[UInt8]] = [[1, 2, 3], Array(repeating: 7, count: 100_000), [9]]
        do {
            // Example: writing
            let product = try Product.load(31, in: crm)
            try product.picture.openForWrite()
            for part in parts { try product.picture.write(part) }
            try product.picture.close()
            try product.update()
            // Example: end
        }
        var received: [UInt8] = []
        // Example: reading
        let saved = try Product.load(31, in: crm)
        try saved.picture.openForRead()
        while let piece = try saved.picture.read(65_536) { received += piece }
        try saved.picture.close()
        // Example: end
        #expect(received == Array(parts.joined()))

        let customer = try Customer.load(1, in: crm)
        let source = example.folder.appending(path: "notes.txt").path, copy = example.folder.appending(path: "copy.txt").path
        try Data("Calls at the café, not before noon.".utf8).write(to: URL(filePath: source))
        // Example: files
        try customer.notes.copyFromFile(source)
        try customer.update()
        try customer.notes.copyToFile(copy)
        let characters = try customer.notes.length
        // Example: end
        #expect(characters == 35)
        #expect(try Data(contentsOf: URL(filePath: copy)) == Data(contentsOf: URL(filePath: source)))
        // Example: removing
        try customer.notes.remove()
        try customer.update()
        // Example: end
        try customer.refresh()
        #expect(try customer.notes.length == nil)
    }
}
