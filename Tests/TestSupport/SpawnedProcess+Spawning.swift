internal import Libc

extension SpawnedProcess {
    /// Starts a program; returns its number and an error code, which is zero if it runs.
    static func spawn(_ words: [String], _ variables: [String], _ descriptors: [Int32]) -> (id: Int32, code: Int32) {
        var actions = unsafe makeSpawnActions()
        var attributes = unsafe makeSpawnAttributes()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        for (number, descriptor) in descriptors.enumerated() {
            unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
        }
        // Closing a closed descriptor is no error.
        for descriptor in descriptorsToClose(from: Int32(descriptors.count)) {
            unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        // Threads that wait for work block signals, and this process may ignore some: a program expects neither.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM] { unsafe sigaddset(&signals, number) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        let signalFlags = Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK)
        unsafe posix_spawnattr_setflags(&attributes, inheritanceFlags | signalFlags)
        let arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        let environment = unsafe variables.map { unsafe strdup($0) } + [nil]
        defer { unsafe (arguments + environment).forEach { unsafe free($0) } }
        var process = pid_t()
        let code = unsafe posix_spawn(&process, words[0], &actions, &attributes, arguments, environment)
        return (process, code)
    }
}
