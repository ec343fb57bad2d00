import MobileModel
import MobileObjects
import MobileServer
import SampleCRM
import Testing

@testable import MobileSync

/// A server and an application whose models differ although they have the same name and version.
@Suite struct ModelDifferenceTests {
    private static let remedy =
        "the server's model of CRM:1.0 differs from the application's: serve the application's model, or give the newer model another version"

    /// Makes a bench whose server has another model of customers.
    private func bench(_ change: @escaping @Sendable (inout ObjectModel) -> Void) throws -> TestBench {
        try TestBench { configuration in
            var model = CRM.metadata.model
            model.objects = model.objects.map { object in
                var object = object
                if object.name == "Customer" { change(&object) }
                return object
            }
            configuration.packages = [PackageDeployment(model, backEnds: configuration.packages[0].backEnds)]
        }
    }

    @Test func `an attribute that only the server has ends the download with a sentence that names both models`() throws {
        let bench = try bench { customer in
            customer.attributes.append(AttributeModel(name: "town", type: .string))
            customer.binding?.columns["town"] = "city"
        }
        let device = try bench.subscribedDevice()
        let error = try #require(#expect(throws: SyncError.self) { try device.crm.synchronize("default") })
        #expect(error.code == .refused && !error.isRecoverable)
        #expect(error.message.contains(#"has no column "town" here; \#(Self.remedy)"#), "\(error.message)")
        #expect(error.recoverySuggestion?.contains("serve the application's model") == true)
        #expect(try Customer.findAll(in: device.crm).isEmpty)
    }

    @Test func `an attribute that only the application has refuses the upload with the same sentence`() throws {
        let bench = try bench { customer in
            customer.attributes.removeAll { $0.name == "phone" }
        }
        let device = try bench.synchronizedDevice(groups: "default")
        let customer = try #require(try Customer.findByPrimaryKey(1, in: device.crm))
        customer.phone = "1234"
        try customer.save()
        try customer.submitPending()
        let error = try #require(#expect(throws: SyncError.self) { try device.crm.synchronize("default") })
        #expect(error.code == .refused)
        #expect(error.message.contains(#"has no attribute "phone" here; \#(Self.remedy)"#), "\(error.message)")
        #expect(customer.isPending)
    }
}
