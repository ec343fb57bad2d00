internal import Foundation
internal import TestSupport

/// The article *Running the server*: worlds start its command, and nginx with its configuration.
struct ServerArticle {
    /// The arguments of `mobile` in the service of the system.
    let arguments: [String]
    /// The configuration of nginx.
    private let proxy: String

    static let nginx = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"].first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Whether a world with processes can run here, and what is missing.
    static let nginxIsMissing = "nginx is not installed; install Debian's package nginx"

    init() throws {
        let text = try String(contentsOf: Repository.file("Sources/MobileServer/MobileServer.docc/RunningTheServer.md"), encoding: .utf8)
        let blocks = text.components(separatedBy: "```")
        func block(_ language: String) throws -> String {
            guard let block = blocks.first(where: { $0.hasPrefix(language + "\n") }) else { throw CocoaError(.formatting) }
            return String(block.dropFirst(language.count + 1))
        }
        guard let line = try block("ini").split(separator: "\n").first(where: { $0.hasPrefix("ExecStart=/usr/local/bin/mobile ") }) else {
            throw CocoaError(.formatting)
        }
        arguments = line.split(separator: " ").dropFirst().map(String.init)
        proxy = try block("nginx")
    }

    /// The configuration of nginx without TLS, for servers at these ports.
    func proxy(at port: UInt16, to servers: [UInt16], segments: String, folder: String) -> String {
        var lines: [String] = []
        for line in proxy.split(separator: "\n", omittingEmptySubsequences: false) {
            guard let start = line.range(of: "server 127.0.0.1:808") else {
                if !line.contains("ssl_certificate") { lines.append(String(line)) }
                continue
            }
            guard let number = line[start.upperBound...].first?.wholeNumberValue, number <= servers.count else { continue }
            lines.append(String(line).replacing("127.0.0.1:808\(number) ", with: "127.0.0.1:\(servers[number - 1]) "))
        }
        let sample = lines.joined(separator: "\n").replacing("listen 443 ssl;", with: "listen 127.0.0.1:\(port);")
            .replacing("/var/cache/mobile/segments", with: segments)
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/nginx-\($0);" }
        return """
            \(geteuid() == 0 ? "user root;" : "")
            worker_processes 1;
            daemon off;
            pid \(folder)/nginx.pid;
            error_log \(folder)/nginx.log warn;
            events { worker_connections 512; }
            http {
            log_format steps '$request_method $uri $status $upstream_addr $upstream_status';
            access_log \(folder)/access.log steps;
            \(temporary.joined(separator: "\n"))
            \(sample)
            }
            """
    }
}
