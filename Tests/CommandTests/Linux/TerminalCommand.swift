#if os(Linux)
internal import Foundation
internal import Glibc
internal import TestSupport
internal import Testing

/// A run of the built command at a terminal of its own, as a person has it.
final class TerminalCommand {
    let terminal: PseudoTerminal
    private let id: pid_t
    private var status: Int32?

    /// Starts the command with that terminal for everything, in `directory`.
    init(_ arguments: [String], home: TemporaryDataDirectory, in directory: String = "/") throws {
        // POSIX_SPAWN_SETSID, which the header hides from Swift.
        let spawnInNewSession: Int16 = 0x80
        terminal = try PseudoTerminal()
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        // The first terminal that the leader of a session opens is the one that /dev/tty means to it.
        unsafe posix_spawn_file_actions_addopen(&actions, 0, terminal.path, O_RDWR, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, 0, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, 0, 2)
        // Those of other tests would stay open as long as the program runs.
        for descriptor in SpawnedProcess.descriptorsToClose(from: 3) {
            unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        // Worker threads block and ignore signals that a person's shell does not.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGINT, SIGTERM, SIGPIPE] { unsafe sigaddset(&signals, number) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        let flags = spawnInNewSession | Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK)
        unsafe posix_spawnattr_setflags(&attributes, flags)
        let path = ChildProcess.products.appending(path: "runar").path()
        let variables = environment(["RUNAR_HOME": home.path]).map { "\($0.key)=\($0.value)" }
        // Glibc's module hides the way to start a program in another directory.
        let shell = ["/bin/sh", "-c", #"cd "$0" && exec "$@""#, directory, path]
        let words = unsafe (shell + arguments).map { unsafe strdup($0) } + [nil]
        let settings = unsafe variables.map { unsafe strdup($0) } + [nil]
        defer { unsafe (words + settings).forEach { unsafe free($0) } }
        var process = pid_t()
        let code = unsafe posix_spawn(&process, "/bin/sh", &actions, &attributes, words, settings)
        try #require(code == 0)
        id = process
    }

    deinit {
        guard status == nil else { return }
        _ = kill(id, SIGKILL)
        _ = exitStatus()
    }

    /// Waits for a question and types the answer; returns the text on the screen up to the question.
    @discardableResult
    func answer(_ question: String, _ text: String) -> String {
        let shown = terminal.screen(until: question)
        #expect(shown.contains(question))
        terminal.type(text + "\n")
        return shown
    }

    /// Waits for its end; minus the signal if one ended it.
    func exitStatus() -> Int32 {
        if let status { return status }
        var word: Int32 = 0
        _ = unsafe waitpid(id, &word, 0)
        let signal = word & 0x7F
        let found = signal == 0 ? (word >> 8) & 0xFF : -signal
        status = found
        return found
    }
}
#endif
