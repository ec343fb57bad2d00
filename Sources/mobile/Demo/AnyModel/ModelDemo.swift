import Foundation
import MobileModel
import MobileObjects
import MobileStore
import MobileSync

/// The demonstration on other data, without a generated class: it finds its changes in the model and in a copy of the back end.
final class ModelDemo: Demonstration {
    let folder: DemoFolder
    let model: PackageModel
    let modelPath: String
    let backEndPath: String
    /// The program that serves; this one unless a test sets another.
    private let executable: URL?
    var narrator = Narrator()
    var server: ServerProcess!
    var trials: BackEndTrials!
    var device: Device<PackageDatabase>!
    var state = StateTable()

    /// Copies the back end, so that the original stays as it is.
    init(folder: DemoFolder, backEnd: String, model path: String, executable: URL? = Bundle.main.executableURL) throws {
        self.folder = folder
        self.executable = executable
        modelPath = path
        model = try PackageModel(contentsOf: URL(fileURLWithPath: path))
        guard let name = model.backEnds.first?.name, model.backEnds.count == 1 else {
            throw UsageError(message: "\(path): the demonstration needs a model with one back end, this one has \(model.backEnds.count)")
        }
        backEndPath = folder.path("\(name).db")
        // The log next to it is copied as well: it may hold the last commits.
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: backEnd + suffix) {
            try FileManager.default.copyItem(atPath: backEnd + suffix, toPath: backEndPath + suffix)
        }
    }

    func run() throws {
        Terminal.say("MobileObjects: package \(model.name):\(model.version) on a copy of its back end, through metadata.")
        try playAllSteps()
    }

    // MARK: The server and the first device

    func startServer() throws {
        narrator.begin("A server in front of a copy of \(model.backEnds[0].name)")
        trials = try BackEndTrials(path: backEndPath)
        server = try ServerProcess(
            arguments: [
                "--model", modelPath, "--cache", folder.path("server-cache.db"), "--backend", "\(model.backEnds[0].name)=\(backEndPath)",
                "--user", "demo", "--password-fd", "0",
            ], log: folder.path("server.log"), executable: executable)
        try server.start()
        narrator.say("mobile serve runs as process \(server.processID ?? 0) and listens on port \(server.port)")
    }

    func makeDevice(_ name: String) throws -> Device<PackageDatabase> {
        let device = try Device(name, in: folder, user: "demo", server: server) { [model] profile in
            try PackageDatabase(model: model, profile: profile)
        }
        try device.application.register(timeout: .seconds(30))
        try device.package.subscribe()
        return device
    }

    func firstSynchronization() throws {
        narrator.begin("A device registers, subscribes and synchronizes for the first time")
        device = try makeDevice("device-1")
        let parameters = model.objects.flatMap { object in object.chosenParameters.map { "\(object.name).\($0.name)" } }
        if !parameters.isEmpty { narrator.say("synchronization parameters with the model's defaults: \(parameters.joined(separator: ", "))") }
        let result = try device.synchronize()
        narrator.say(
            "\(Format.count(result.rowsImported, "row")) and \(Format.count(result.largeValuesImported, "large value")) in \(Format.time(result.duration)): "
                + "\(Format.bytes(result.bytesReceived)) over the wire, \(Format.rate(result.rowsImported, "rows", in: result.importDuration)) while importing; "
                + "this process occupies \(Narrator.memory()), the server \(Narrator.memory(of: server.processID))")
        let counts = try synchronizedEntities.map { "\($0.name) \(Format.count(try device.package.entity($0.name).count))" }
        narrator.say("now on the device: \(counts.joined(separator: ", "))")
    }

    var synchronizedEntities: [EntityMetadata] { device.package.metadata.entities.filter { !$0.isLocal } }

    // MARK: Reading

    func readOffline() throws {
        narrator.begin("Everything is on the device: pages, a query, a parent with its children")
        let largest = try synchronizedEntities.map { ($0, try device.package.entity($0.name).count) }.max { $0.1 < $1.1 }
        guard let (entity, count) = largest, count > 0 else { throw DemoFailure("the back end has no rows that the model loads") }
        let entities = try device.package.entity(entity.name)
        var seen = 0, after: Int64 = 0
        let start = ContinuousClock.now
        while case let page = try entities.page(after: after, size: 100), let last = page.last {
            seen += page.count
            after = last.surrogateKey
        }
        let duration = ContinuousClock.now - start
        narrator.say(
            "\(Format.count(seen)) objects of \(entity.name) in pages of 100 in \(Format.time(duration)), \(Format.rate(seen, "objects", in: duration))"
        )
        try runFirstQuery()
        try showParentWithChildren()
    }

    /// Runs the first query of the model whose parameters have the names of attributes, with the values of an existing object.
    private func runFirstQuery() throws {
        for entity in synchronizedEntities {
            guard let object = try device.package.entity(entity.name).page(size: 1).first else { continue }
            for query in entity.model.queries {
                let values = query.parameters.compactMap { try? object.value($0.name) }
                guard values.count == query.parameters.count else { continue }
                let found = try device.package.entity(entity.name).query(query.name, values)
                let arguments = values.map { "\"\($0)\"" }.joined(separator: ", ")
                narrator.say("object query \(entity.name).\(query.name)(\(arguments)): \(Format.count(found.count, "object"))")
                return
            }
        }
        narrator.say("the model has no object query that could be called without knowing more")
    }

    private func showParentWithChildren() throws {
        for entity in synchronizedEntities {
            for relationship in entity.relationships where relationship.isMany {
                for parent in try device.package.entity(entity.name).page(size: 100) {
                    let children: Children<GenericEntity> = try parent.children(relationship.name)
                    let list = try children.all()
                    guard !list.isEmpty else { continue }
                    narrator.say("\(parent.title) has \(Format.count(list.count)) in \(relationship.name), the first of them:")
                    narrator.say("  \(Self.line(list[0]))")
                    return
                }
            }
        }
        narrator.say("the model has no relationship to many with rows")
    }

    /// The first few attributes of an object, for people.
    static func line(_ object: GenericEntity) -> String {
        object.metadata.attributes.filter { !$0.isLarge }.prefix(6)
            .map { "\($0.name) \"\(object.value(ofAttribute: $0.index).description.prefix(40))\"" }.joined(separator: ", ")
    }

    func summarize() throws {
        try trials.close()
        try device.close()
        server.kill()
        narrator.begin("Done")
        narrator.say("The same as with the sample, on data that was not prepared for it; the original file is as it was.")
        if folder.isKept { narrator.say("The databases are in \(folder.url.path): mobile inspect \(device.databasePath)") }
        Terminal.say("\nDone in \(Format.time(narrator.elapsed)).")
    }
}
