import Foundation

/// The options of the command line.
struct Options {
    var filter = ""
    var jsonPath: String?
    var plotFolder: String?
    var isQuick = false
    var checksLimits = false
    var lists = false
    var memoryOf: String?
    var serverFolder: String?
    var serverSettings = ServerOfBenchmarks.Settings()

    /// The number of pairs that a median is taken from.
    var pairs: Int { isQuick ? 3 : 9 }

    static let usage = """
        usage: Benchmarks [--filter ID-PREFIX] [--json FILE] [--plot DIR] [--quick] [--check] [--list]
          --filter ID-PREFIX   only the benchmarks whose id begins so
          --json FILE          write the results there as well
          --plot DIR           draw the matrix of page and cache sizes there, as SVG
          --quick              3 pairs instead of 9, large inputs a tenth as large: for a first look, not for a decision
          --check              exit status 1 when a limit is missed
          --list               say what there is and what it shows
        """

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        func value(of option: String) throws -> String {
            guard let value = rest.popFirst() else { throw WrongResult("\(option): a value is missing\n\(Options.usage)") }
            return value
        }
        while let option = rest.popFirst() {
            switch option {
            case "--filter": filter = try value(of: option)
            case "--json": jsonPath = try value(of: option)
            case "--plot": plotFolder = try value(of: option)
            case "--quick": isQuick = true
            case "--check": checksLimits = true
            case "--list": lists = true
            case MemoryOfChild.option: memoryOf = try value(of: option)
            case ServerOfBenchmarks.option: serverFolder = try value(of: option)
            case ServerOfBenchmarks.settingsOption:
                serverSettings = try JSONDecoder().decode(ServerOfBenchmarks.Settings.self, from: Data(value(of: option).utf8))
            default: throw WrongResult("\(option): there is no such option\n\(Options.usage)")
            }
        }
    }
}
