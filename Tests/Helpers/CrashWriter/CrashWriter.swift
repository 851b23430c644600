internal import Bytes
internal import Database
internal import Foundation
internal import NodeStore
internal import Platform
internal import SlotStore

/// Writes endlessly and prints a line after each completed write, until a test kills it.
///
/// `CrashWriter vault <path> <key file> <first>` and `CrashWriter store <path> <first>` write the numbers from `first` on to
/// ten slots in turn. `CrashWriter migrate <path> <first>` migrates the databases `<path>-<first>` and so on, as many as
/// there are. `CrashWriter prompt <terminal>` asks for a secret on it and prints its length.
@main struct CrashWriter {
    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments.count == 3, arguments[1] == "prompt" {
            // A process that a worker thread starts inherits its signal mask, which blocks the signals under test.
            var none = sigset_t()
            unsafe sigemptyset(&none)
            unsafe sigprocmask(SIG_SETMASK, &none, nil)
            let secret = try TerminalPrompt(path: arguments[2]).secret("Passphrase: ")
            return try FileHandle.standardOutput.write(contentsOf: Data("\(secret.count)\n".utf8))
        }
        guard arguments.count >= 4, let first = arguments.last.flatMap({ UInt64($0) }) else { exit(64) }
        switch arguments[1] {
        case "vault":
            let vault = try VaultFile.open(at: arguments[2], secret: .keyFile(path: arguments[3]))
            try write(from: first) { slot, text in
                // Of many lengths, so that vaults of all sizes replace each other.
                let filler = [UInt8](repeating: 0x20, count: text.utf8.last.map { Int($0) } ?? 0)
                try vault.store(SecretBytes(copying: text.utf8 + filler), id: slot)
            }
        case "store":
            let store = try NodeStore(path: arguments[2])
            try write(from: first) { slot, text in try store.setSlot(slot, to: Array(text.utf8)) }
        case "migrate":
            var number = first
            while FileManager.default.fileExists(atPath: "\(arguments[2])-\(number)") {
                try FileHandle.standardOutput.write(contentsOf: Data("\(number)\n".utf8))
                try NodeStore(path: "\(arguments[2])-\(number)").database.close()
                number += 1
            }
        default:
            exit(64)
        }
    }

    private static func write(from first: UInt64, _ body: (String, String) throws -> Void) throws {
        var number = first
        while true {
            try body("slot-\(number % 10)", "\(number)")
            try FileHandle.standardOutput.write(contentsOf: Data("\(number)\n".utf8))
            number += 1
        }
    }
}
