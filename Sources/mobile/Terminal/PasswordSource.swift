import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// The source of a command's passwords: the terminal, which does not show them, or a file descriptor. Never its arguments: those appear in
/// the list of processes, in the shell's history, and in logs.
enum PasswordSource {
    /// Asks on the terminal.
    case terminal
    /// Reads the passwords from a file descriptor, one line each, in the order of the users.
    case descriptor(Int32)

    /// The maximum number of bytes of a password.
    static let longest = 1024

    /// - Parameter text: the argument after `--password-fd`.
    init(option text: String) throws(UsageError) {
        guard let number = Int32(text), number >= 0 else {
            throw UsageError(message: "--password-fd \"\(text.prefix(20))\": write the number of a file descriptor that is open for reading")
        }
        self = .descriptor(number)
    }

    /// Returns the passwords of users.
    /// - Throws: ``CommandFailure`` if there is no terminal, or a line is missing.
    func passwords(of users: [String]) throws -> [String: String] {
        var passwords: [String: String] = [:]
        for user in users { passwords[user] = try password(of: user) }
        return passwords
    }

    func password(of user: String) throws -> String {
        let bytes: [UInt8]?
        switch self {
        case .descriptor(let number): bytes = try Self.line(from: number)
        case .terminal: bytes = try Self.asked("password of \(user): ")
        }
        guard let bytes, !bytes.isEmpty else { throw CommandFailure("user \"\(user.prefix(80))\": there is no password") }
        // These include the keys that would otherwise have sent a signal to the program: see `asked`.
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw CommandFailure("user \"\(user.prefix(80))\": the password has a control character in it")
        }
        guard let password = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure("user \"\(user.prefix(80))\": the password is not text in UTF-8")
        }
        return password
    }

    /// Reads one line without its end; nil if there is none. Reads byte by byte, so that the next line stays unread.
    private static func line(from descriptor: Int32) throws -> [UInt8]? {
        var line: [UInt8] = []
        while true {
            var byte: UInt8 = 0
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw CommandFailure("cannot read a password from file descriptor \(descriptor): \(String(cString: strerror(errno)))")
            }
            if count == 0 { return line.isEmpty ? nil : line }
            if byte == UInt8(ascii: "\n") { break }
            guard line.count < longest else { throw CommandFailure("a password of more than \(longest) bytes") }
            line.append(byte)
        }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line
    }

    private static func asked(_ question: String) throws -> [UInt8]? {
        var shown = termios()
        guard isatty(0) == 1, tcgetattr(0, &shown) == 0 else {
            throw CommandFailure("there is no terminal to ask for a password; hand it over with --password-fd")
        }
        var hidden = shown
        // Signals are off too: an interrupt at this point would leave a terminal without echo.
        hidden.c_lflag &= ~tcflag_t(ECHO | ISIG)
        guard tcsetattr(0, TCSAFLUSH, &hidden) == 0 else { throw CommandFailure("the terminal's echo cannot be turned off") }
        defer { tcsetattr(0, TCSAFLUSH, &shown) }
        FileHandle.standardError.write(Data(question.utf8))
        defer { FileHandle.standardError.write(Data("\n".utf8)) }
        return try line(from: 0)
    }
}
