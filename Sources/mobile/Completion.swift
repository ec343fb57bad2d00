import Foundation

/// `mobile completion`: a script that makes a shell complete commands, their sub-commands and options. It is made of the usages of the commands.
enum Completion {
    static let summary = "writes the script with which bash or zsh completes this tool's arguments"
    static let usage = """
        usage: mobile completion bash|zsh

        bash: eval "$(mobile completion bash)" in ~/.bashrc
        zsh:  eval "$(mobile completion zsh)" in ~/.zshrc, after compinit
        """

    /// - Parameter commands: all commands of the tool.
    static func run(_ arguments: [String], _ commands: [Command]) -> Int32 {
        switch arguments {
        case ["bash"]: print(bash(commands))
        case ["zsh"]: print(zsh(commands))
        case ["--help"], ["-h"]: print(usage)
        default:
            Terminal.complain(usage)
            return Command.usageStatus
        }
        return 0
    }

    /// The words that can follow a command: its sub-commands, the first words of the usage's indented lines, and its options.
    static func words(of command: Command) -> [String] {
        var words: [String] = []
        func add(_ word: some StringProtocol) { if !words.contains(String(word)) { words.append(String(word)) } }
        // In `install|remove|status` and in lines of the list below it, sub-commands are in small letters.
        for match in command.usage.matches(of: /^\s*(?:usage: )?mobile [a-z]+ ([a-z]+(?:\|[a-z]+)*)\b/.anchorsMatchLineEndings()) {
            for word in match.1.split(separator: "|") { add(word) }
        }
        for match in command.usage.matches(of: /^  ([a-z][a-z-]+)(?: [A-Z\[][^ ]*)* {2,}[^ ]/.anchorsMatchLineEndings()) { add(match.1) }
        for match in command.usage.matches(of: /--[a-z][a-z-]*/) { add(match.0) }
        return words
    }

    private static func bash(_ commands: [Command]) -> String {
        let cases = commands.map { "        \($0.name)) words='\((words(of: $0) + ["--help"]).uniqued.joined(separator: " "))' ;;" }
        return """
            _mobile() {
                local words=
                if [ "$COMP_CWORD" -eq 1 ]; then
                    words='\((commands.map(\.name) + ["help"]).joined(separator: " "))'
                else
                    case ${COMP_WORDS[1]} in
            \(cases.joined(separator: "\n"))
                    esac
                fi
                COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
            }
            complete -o default -F _mobile mobile
            """
    }

    private static func zsh(_ commands: [Command]) -> String {
        func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
        let descriptions = commands.map { "            " + quoted("\($0.name):\($0.summary)") }
        let cases = commands.map { "        \($0.name)) compadd -- \((words(of: $0) + ["--help"]).uniqued.joined(separator: " ")) ;;" }
        return """
            _mobile() {
                if (( CURRENT == 2 )); then
                    local -a commands
                    commands=(
            \(descriptions.joined(separator: "\n"))
                    )
                    _describe command commands
                    return
                fi
                case $words[2] in
            \(cases.joined(separator: "\n"))
                esac
                _files
            }
            compdef _mobile mobile
            """
    }
}

extension [String] {
    /// Each word once, in the order of its first place.
    fileprivate var uniqued: [String] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}
