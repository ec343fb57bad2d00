import Foundation
import MobileObjects
import MobileStore
import MobileSync
import SampleCRM

/// The code of the articles of MobileObjects, to be compiled: see `ArticleSampleTests`.
private enum ObjectArticleSamples {
    func overview(_ crm: CRM) throws {
        let customer = Customer(in: crm)
        customer.name = "Harbour Foods"
        customer.orders.append(SalesOrder(in: crm))
        try customer.save()
        try customer.submitPending()
    }

    func pendingState(_ customer: Customer) throws {
        switch customer.state {
        case .pending: try customer.submitPending()
        case .failed: print(try customer.logRecords().first?.message ?? ""); try customer.cancelPending()
        default: break
        }
    }

    func deferral(_ crm: CRM) async throws {
        let result = try await crm.synchronize()
        if result.operationsDeferred > 0, let operation = try await crm.deferredOperations().first {
            print("\(operation.message); again at \(operation.nextTry)")
        }
    }

    func conflict(_ customer: Customer) throws {
        if let conflict = try customer.conflict() {
            print("You: \(customer.city). The office: \(conflict.row?["city"] ?? .null)")
            try customer.cancelPending()
        }
    }

    func upgrade(_ profile: ConnectionProfile) async throws -> CRM {
        let crm: CRM
        do { crm = try await CRM.open(profile) } catch let error as ObjectError where error.code == .version {
            let old = try PackageDatabase(model: PackageMetadata(storedIn: profile).model, profile: profile)
            try await old.submitPendingOperations()
            try await old.synchronize()
            try await old.close()
            crm = try await CRM.open(profile)
        }
        return crm
    }
}

/// Those of *Queries*.
private enum QueryArticleSamples {
    func keyPaths(_ crm: CRM) throws -> (EntityList<Customer>, Int) {
        let customers = try Customer.where(\.city == "Dublin" && \.creditLimit > 100).sorted(by: \.name).take(20).find(in: crm)
        let some = try Customer.where { $0.name.contains("port") || $0.contact == nil }.count(in: crm)
        return (customers, some)
    }

    func sets(_ crm: CRM) async throws -> (Decimal?, EntitySet<Customer>) {
        for customer in try await crm.customers.where(\.city == "Cork").ordered(by: \.name) { print(customer.name) }
        for try await customer in crm.customers.where(\.city == "Cork").ordered(by: \.name) { print(customer.name) }
        for customer in try await crm.customers.where(\.city == "Cork").limit(20).find() { print(customer.name) }
        let total = try await crm.customers.where(\.city == "Cork").sum(of: \.creditLimit)
        let query = crm.customers.where(\.city == "Cork").sorted(by: \.name)
        return (total, query)
    }

    func names(_ crm: CRM) throws {
        let query = Query().select("c.city, COUNT(*) as orders, MAX(o.total)").from("Customer", "c").join("SalesOrder", "o", "o.customerId", "c.id")
            .where(.equal("o.status", "NEW")).groupBy("c.city").having(.greaterThan("orders", 1)).sorted(by: .descending("orders"))
        var results = try crm.executeQuery(query)
        while results.next() { print(try results.string(1, "c.city"), try results.integer("orders"), try results.nullableDecimal(3) ?? 0) }
    }

    func modelled(_ crm: CRM) throws -> EntityList<Customer> {
        let cork = try Customer.findByCity(city: "Cork", sortedBy: [.descending(Customer.columns.creditLimit)], take: 20, in: crm)
        return cork
    }

    func search(_ crm: CRM) throws -> [EntityList<Customer>] {
        let found = try crm.customers.matching("harbour fo").find()
        let inDublin = try crm.customers.where(\.city == "Dublin" && .matching("harbour")).ordered(by: \.name).find()
        let best = try crm.customers.matching("harbour").orderedByRelevance().limit(20).find()
        let anyWord = try Customer.where(.matching(TextSearch("harbour mill", in: ["name"], requiring: .any))).find(in: crm)
        return [found, inDublin, best, anyWord]
    }

    func lists(_ crm: CRM) throws -> Customer {
        let list = try Customer.all.sorted(by: \.name).list(in: crm)
        let last = try list[list.count() - 1]
        for customer in try Customer.all.sorted(by: \.name).cursor(in: crm) { print(customer.name) }
        return last
    }

    func pages(_ crm: CRM, show: (EntityList<Customer>) -> Void) async throws {
        for try await page in Customer.all.sorted(by: \.name).pages(in: crm) { show(page) }
    }

    func changes(_ crm: CRM) throws {
        try crm.customers.where(\.city == "Cork").update { $0.city = "Galway" }
        try crm.customers.where(\.active == false).delete()
        try crm.customers.where(\.city == "Galway").submit()
    }

    private actor Screen {
        func show(_ customers: EntitySnapshot<Customer>) {}
    }

    private func observation(_ crm: CRM, _ screen: Screen) async throws {
        for try await customers in crm.observe(Customer.where(\.city == "Dublin").sorted(by: \.name)) {
            await screen.show(customers)
        }
    }
}
