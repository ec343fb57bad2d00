// rhoconnect-process: one end of the protocol as a process, which a test kills in the middle of its requests.
//
// usage: rhoconnect-process face STATE BACKEND     a face with the source `Item`, whose objects are in the file BACKEND
//        rhoconnect-process client DATABASE        a client with the model `Item`
//
// Each line of the standard input is a command with its words separated by blanks, and is answered by one line. `die STAGE NUMBER PROCESS` has the face kill a
// process, 0 for itself, when it passes the stage for the n-th time; the client kills itself alone. The other commands are those of `Face` and `Client`.

import Foundation

let arguments = CommandLine.arguments
let role: any Role
switch (arguments.count, arguments.dropFirst().first) {
case (4, "face"): role = try Face(state: arguments[2], backEnd: arguments[3])
case (3, "client"): role = try Client(path: arguments[2])
default:
    FileHandle.standardError.write(Data("usage: rhoconnect-process face STATE BACKEND | client DATABASE\n".utf8))
    exit(64)
}
answer("ready")
while let line = readLine() {
    do { answer(try role.perform(line.split(separator: " ").map(String.init))) } catch { answer("error: \(error)") }
}

func answer(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
