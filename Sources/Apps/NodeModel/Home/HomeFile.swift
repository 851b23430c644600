internal import Database

/// A file or directory that this program keeps in a home.
///
/// Writers take their names from here, and `runar reset` removes all of them: a name that is missing here would outlive
/// the node.
package enum HomeFile: String, CaseIterable, Sendable {
    /// The keys, encrypted.
    case vault
    case keyFile = "vault.key"
    case vaultLock = "vault.lock"
    case state = "state.sqlite"
    /// The files of SQLite next to a database that was not closed.
    case stateLog = "state.sqlite-wal"
    case stateIndex = "state.sqlite-shm"
    case stateJournal = "state.sqlite-journal"
    /// The empty file next to a database that was made, which distinguishes a lost one from a new one.
    case stateMark = "state.sqlite-made"
    /// The directory of the pools of one-time keys.
    case oneTimeKeys = "one-time-keys"
    /// The directory for files that a person accepted.
    case receivedFiles = "files"
    case settings = "config.json"
    /// The steps of a registration at an identity server, without secrets.
    case registration = "registration.json"
    case peerId = "peer.id"
    case log = "node.log"
    case consoleToken = "console.token"
    case consoleCertificate = "console.tls.pem"
    case socket = "control.sock"
    case nodeLock = "node.lock"

    /// Whether a name in a home is one of this program's: a file of the list, a copy of the state from before an update,
    /// the page that starts a browser, or a file that was being written.
    package static func isOwn(_ name: String) -> Bool {
        HomeFile(rawValue: name) != nil || StateMigration.isCopy(name, of: state.rawValue)
            || ConsoleLink.isName(name) || Leftovers.isLeftover(name)
    }
}
