/// The options of `mobile generate`. A configuration is kept in this form.
struct GenerateOptions: Codable, Equatable {
    /// The model's file.
    var model = ""
    var directory = GenerateOptions.defaultDirectory
    var pageSize: Int?
    var removesOthers = false
    /// Names of objects to generate; empty, with ``groups`` empty too, for all.
    var objects: [String] = []
    /// Names of synchronization groups whose objects are generated.
    var groups: [String] = []
    /// Whether the back ends must exist and match the model.
    var checksBackEnds = false
    /// Places of back ends over those in the model, by their names. Nil in configurations of earlier releases.
    var backEnds: [String: String]?

    static let defaultDirectory = "genfiles"
}

/// The arguments of one call.
struct GenerateArguments: Equatable {
    var options = GenerateOptions()
    /// The configuration to begin with: the named one, or the last one if there are no arguments; otherwise nil.
    var configuration: String?
    /// The name under which the options are saved.
    var savedName: String?

    /// The reason why arguments cannot be used.
    struct Failure: Error { let message: String }

    /// - Parameter configurations: the configurations kept before.
    init(_ arguments: [String], configurations: GenerationConfigurations) throws(Failure) {
        if let place = arguments.firstIndex(of: "--configuration") {
            configuration = try Self.value(of: "--configuration", "a name", in: arguments, at: place)
        } else if arguments.isEmpty {
            configuration = configurations.last
        }
        if let configuration {
            guard let options = configurations.options[configuration] else {
                throw Failure(message: "--configuration \(configuration): there is none; there are \(configurations.names)")
            }
            self.options = options
        }
        try read(arguments)
        if options.model.isEmpty { throw Failure(message: "a model file is missing") }
        if options.backEnds != nil, !options.checksBackEnds { throw Failure(message: "--backend: it goes with --check-back-ends") }
    }

    private mutating func read(_ arguments: [String]) throws(Failure) {
        var position = 0
        var isFirstObject = true
        while position < arguments.count {
            let argument = arguments[position]
            func value(_ what: String) throws(Failure) -> String { try Self.value(of: argument, what, in: arguments, at: position) }
            var takesValue = true
            switch argument {
            case "--output": options.directory = try value("a directory")
            case "--page-size":
                let text = position + 1 < arguments.count ? arguments[position + 1] : ""
                guard let size = Int(text) else { throw Failure(message: "--page-size \"\(text)\": expected a number of bytes") }
                options.pageSize = size
            case "--objects", "--group":
                // A choice on the command line replaces that of the configuration.
                if isFirstObject { (options.objects, options.groups, isFirstObject) = ([], [], false) }
                let names = try value("a name").split(separator: ",").map(String.init)
                if argument == "--group" { options.groups += names } else { options.objects += names }
            case "--from": throw Failure(message: "--from: the command that makes a model of a deployment unit is mobile model --from")
            case "--backend":
                let parts = try value("NAME=PLACE").split(separator: "=", maxSplits: 1).map(String.init)
                guard parts.count == 2 else { throw Failure(message: "--backend \"\(arguments[position + 1])\": write NAME=PLACE") }
                options.backEnds = (options.backEnds ?? [:]).merging([parts[0]: parts[1]]) { $1 }
            case "--configuration": break
            case "--save": savedName = try value("a name")
            case "--clean": (options.removesOthers, takesValue) = (true, false)
            case "--check-back-ends": (options.checksBackEnds, takesValue) = (true, false)
            case _ where argument.hasPrefix("-"): throw Failure(message: "\(argument): there is no such option")
            case _ where !options.model.isEmpty && configuration == nil:
                throw Failure(message: "\(argument): there is a model already, \(options.model)")
            default: (options.model, takesValue) = (argument, false)
            }
            position += takesValue ? 2 : 1
        }
    }

    private static func value(of option: String, _ what: String, in arguments: [String], at position: Int) throws(Failure) -> String {
        guard position + 1 < arguments.count, !arguments[position + 1].hasPrefix("-") else {
            throw Failure(message: "\(option): \(what) is missing")
        }
        return arguments[position + 1]
    }
}
