import MobileModel
import MobileServer
import MobileStore

@testable import MobileServer

/// The ways to find changes in back ends that speak SQL, on the package of field sales. Orders are those of the region's customers.
enum ChangeWay: String, CaseIterable, Sendable {
    case triggerLog, digest, versionColumn

    /// - Parameter kind: the engine, whose statements a load needs.
    var model: PackageModel {
        var model = FieldSales.model
        let columns = self == .versionColumn ? "o.id, o.customer, o.status" : "o.*"
        model.objects[1].synchronizationParameters = [ParameterModel(name: "region", type: .string, personalizationKey: "region")]
        model.objects[1].binding?.load = """
            SELECT \(columns) FROM "order" AS o JOIN "the customers" AS c ON c."customer no" = o.customer WHERE c.region = :region
            """
        for index in model.objects.indices {
            switch self {
            case .triggerLog:
                let others = model.objects[index].name == "Order" ? ["the customers"] : []
                model.objects[index].binding?.changeDetection = .triggerLog(tables: others)
            case .versionColumn: model.objects[index].binding?.changeDetection = .versionColumn("v")
            // The contents of large values are not in the sums.
            case .digest: model.objects[index].attributes.removeAll { ["notes", "photo"].contains($0.name) }
            }
        }
        return model
    }

    var tables: String { FieldSales.tables + (self == .versionColumn ? Self.versions : "") }

    var postgreSQLTables: String { FieldSales.postgreSQLTables + (self == .versionColumn ? Self.postgreSQLVersions : "") }

    private static let names = ["the customers", "order", "order line"]

    /// Rows that were there before have no version.
    private static let versions =
        "CREATE TABLE version_counter (n INTEGER NOT NULL); INSERT INTO version_counter VALUES (0);"
        + names.map { name in
            let next =
                #"BEGIN UPDATE version_counter SET n = n + 1; UPDATE "\#(name)" SET v = (SELECT n FROM version_counter) WHERE rowid = NEW.rowid; END;"#
            return """
                ALTER TABLE "\(name)" ADD COLUMN v INTEGER;
                CREATE TRIGGER "\(name) v insert" AFTER INSERT ON "\(name)" \(next)
                CREATE TRIGGER "\(name) v update" AFTER UPDATE ON "\(name)" WHEN NEW.v IS OLD.v \(next)
                """
        }.joined(separator: "\n")

    private static let postgreSQLVersions =
        """
        CREATE SEQUENCE versions;
        CREATE FUNCTION next_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.v = nextval('versions'); RETURN NEW; END $$;
        """
        + names.map { name in
            """
            ALTER TABLE "\(name)" ADD COLUMN v BIGINT;
            CREATE TRIGGER next_version BEFORE INSERT OR UPDATE ON "\(name)" FOR EACH ROW EXECUTE FUNCTION next_version();
            """
        }.joined(separator: "\n")

    /// Makes a server that finds changes in this way also in partitions of few rows.
    func server(_ kind: BackEndKind, adjust: @escaping (inout ServerConfiguration) -> Void = { _ in }) throws -> TestServer {
        try TestServer(model: model, tables: tables, postgreSQL: postgreSQLTables, on: kind) {
            $0.changeRules = ChangeRules(leastRows: 0, rowsPerBucket: 0, changedPart: 1)
            adjust(&$0)
        }
    }
}

extension TestServer {
    /// The places where the rows of a device differ from those of the back end in its region; `missing` and `surplus` rows as text.
    func differences(of device: TestDevice, in region: String) throws -> [String] {
        let customers = #""the customers" AS c WHERE c.region = '\#(region)'"#
        let present = try backEnd { backEnd in
            try [
                #"SELECT 'C ' || c."customer no" || '|' || c.name || '|' || coalesce(c.code, 'NULL') FROM \#(customers)"#,
                #"SELECT 'O ' || o.id || '|' || o.customer || '|' || o.status FROM "order" AS o JOIN \#(customers.replacing(" WHERE", with: #" ON c."customer no" = o.customer WHERE"#))"#,
                #"SELECT 'L ' || "order" || '|' || line || '|' || product || '|' || quantity FROM "order line""#,
            ].flatMap { try backEnd.rows($0).compactMap { $0[0].text } }
        }
        func texts(_ object: String, _ name: String, _ attributes: [String]) -> [String] {
            (device.rows[object] ?? [:]).values.map { row in
                name + " "
                    + attributes.map { attribute in
                        let value = row[attribute] ?? .null
                        return value.string ?? value.integer.map(String.init) ?? "NULL"
                    }.joined(separator: "|")
            }
        }
        let held =
            texts("Customer", "C", ["id", "name", "code"]) + texts("Order", "O", ["id", "customerId", "status"])
            + texts("Line", "L", ["orderId", "line", "product", "quantity"])
        let extra = held.filter { !present.contains($0) }.map { "surplus \($0)" },
            missing = present.filter { !held.contains($0) }.map { "missing \($0)" }
        return (extra + missing).sorted() + (held.count == present.count ? [] : ["\(held.count) rows of \(present.count)"])
    }
}
