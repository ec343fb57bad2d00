import Foundation
import MobileExecution
import MobileObjects
import MobileServer

/// `mobile demo`: a whole offline-first application at work, from an empty folder to two devices that agree.
enum Demo {
    static let summary = "shows an offline-first application at work, step by step"
    static let usage = """
        usage: mobile demo [--keep DIRECTORY]
               mobile demo --backend FILE.db --model FILE.mbo.json [--keep DIRECTORY]
               mobile demo --worklight [--keep DIRECTORY]
               mobile demo --rhoconnect [--keep DIRECTORY]

        Without arguments: a sample back end, a server in a process of its own, two devices. With a back end in an SQLite file and its
        model the same on a copy of that file, through metadata. Needs no network except loopback, and leaves no files unless told to.
          --worklight       shows the examples of the Worklight API instead, between its client and its server face
          --rhoconnect      shows the store of the RhoConnect documents instead, between its client and its server face
          --keep DIRECTORY  leaves the databases there, for mobile inspect; the directory is made and must be empty
        """

    static let run: @Sendable ([String]) -> Int32 = { arguments in
        if arguments.contains("--help") {
            print(usage)
            return 0
        }
        do {
            let options = try Options(arguments)
            let folder = try DemoFolder(keptAt: options.keep)
            defer { folder.remove() }
            if options.isWorklight {
                try runBlocking {
                    var demo = WorklightDemo(folder: folder)
                    try await demo.run()
                }
            } else if options.isRhoConnect {
                var demo = RhoConnectDemo(folder: folder)
                try demo.run()
            } else if let backEnd = options.backEnd, let model = options.model {
                try ModelDemo(folder: folder, backEnd: backEnd, model: model).run()
            } else {
                try SampleDemo(folder: folder).run()
            }
            return 0
        } catch let error as UsageError {
            Terminal.refuse(error, of: "demo")
            return Command.usageStatus
        } catch {
            Terminal.complain("mobile demo: \(Terminal.words(for: error))")
            return 1
        }
    }

    /// Runs asynchronous work to its end; the main thread waits.
    static func runBlocking(_ work: @escaping @Sendable () async throws -> Void) throws {
        let promise = Promise<Bool, any Error>()
        Task {
            do {
                try await work()
                promise.resolve(.success(true))
            } catch { promise.resolve(.failure(error)) }
        }
        _ = try promise.wait()
    }

    /// The day in new rows of the demonstration: always the same, so that two runs can be compared.
    static let today = LocalDate(year: 2026, month: 5, day: 18) ?? .epoch

    struct Options: Equatable {
        var backEnd: String?
        var model: String?
        var keep: String?
        var isWorklight = false
        var isRhoConnect = false

        init(_ arguments: [String]) throws {
            var rest = arguments[...]
            while let option = rest.popFirst() {
                guard ["--backend", "--model", "--keep", "--worklight", "--rhoconnect"].contains(option) else {
                    throw UsageError(message: "\(option): there is no such option")
                }
                if option == "--worklight" || option == "--rhoconnect" {
                    let isOn = try rest.popSwitch(option)
                    if option == "--worklight" { isWorklight = isOn } else { isRhoConnect = isOn }
                    continue
                }
                guard let value = rest.popFirst() else { throw UsageError(message: "\(option): a value is missing") }
                switch option {
                case "--backend": backEnd = value
                case "--model": model = value
                default: keep = value
                }
            }
            if let backEnd, PostgreSQLPlace.isAddress(backEnd) {
                throw UsageError(
                    message: "--backend \(backEnd): the demonstration works on a copy of an SQLite file; use mobile serve with a PostgreSQL database")
            }
            guard (backEnd == nil) == (model == nil) else { throw UsageError(message: "--backend and --model belong together") }
        }
    }
}

/// A promise of the demonstration that was not kept; the demonstration ends there.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The folder with the databases of one run.
struct DemoFolder {
    let url: URL
    let isKept: Bool

    /// - Throws: ``UsageError`` if the folder to keep is not empty.
    init(keptAt path: String?) throws {
        isKept = path != nil
        url =
            path.map { URL(fileURLWithPath: $0, isDirectory: true) }
            ?? FileManager.default.temporaryDirectory.appendingPathComponent("mobile-demo-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        guard try FileManager.default.contentsOfDirectory(atPath: url.path).isEmpty else {
            throw UsageError(message: "--keep \(url.path): the directory is not empty")
        }
    }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    func remove() {
        if !isKept { try? FileManager.default.removeItem(at: url) }
    }
}
