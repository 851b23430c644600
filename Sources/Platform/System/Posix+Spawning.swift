internal import Libc

extension Posix {
    /// A descriptor that a new program gets under another number.
    package struct PassedDescriptor: Hashable, Sendable {
        /// The number in this process.
        package let descriptor: Int32
        /// The number in the program.
        package let number: Int32

        package init(_ descriptor: Int32, as number: Int32) {
            self.descriptor = descriptor
            self.number = number
        }
    }

    /// Starts a program in a session of its own, so that the terminal's signals do not reach it.
    ///
    /// It gets the three given descriptors and those of `passed`, whose numbers in the program are distinct and above 2;
    /// the numbers in this process may be any. A node in the background would keep an inherited pipe open, and the reader
    /// of that pipe would wait until the node ends.
    ///
    /// Returns the program's number; nil on failure, with the reason in ``lastErrorCode``.
    package static func spawn(
        _ path: String,
        _ arguments: [String],
        _ environment: [String],
        input: Int32,
        output: Int32,
        errors: Int32,
        passing passed: [PassedDescriptor] = []
    ) -> Int32? {
        closeDescriptorsOnExecution()
        let standard = [input, output, errors].enumerated().map { PassedDescriptor($1, as: Int32($0)) }
        guard let sources = duplicates(of: standard + passed) else { return nil }
        var actions = unsafe makeSpawnActions()
        var attributes = unsafe makeSpawnAttributes()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        for (source, target) in zip(sources, standard + passed) {
            unsafe posix_spawn_file_actions_adddup2(&actions, source.descriptor, target.number)
        }
        // Ignored signals are inherited: restore the default of those that this process ignores.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in [interruption, termination, hangUp, brokenPipe] { unsafe sigaddset(&signals, number) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        // Threads of Dispatch block signals, which a new program would inherit from them.
        var blocked = sigset_t()
        unsafe sigemptyset(&blocked)
        unsafe posix_spawnattr_setsigmask(&attributes, &blocked)
        let flags = Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK)
        unsafe posix_spawnattr_setflags(&attributes, newSessionFlags | flags)
        let words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        let variables = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        var process = pid_t()
        let code = withExtendedLifetime(sources) {
            unsafe posix_spawn(&process, path, &actions, &attributes, words, variables)
        }
        if code != 0 { errno = code }
        return code == 0 ? process : nil
    }

    /// Duplicates descriptors to numbers above all of those in the program; nil on failure.
    ///
    /// The system copies one descriptor after the other in the program: a copy to a number that another one still has
    /// would replace that one, and a copy to its own number would leave it to be closed.
    private static func duplicates(of passed: [PassedDescriptor]) -> [DescriptorOwner]? {
        let numbers = passed.map(\.number)
        precondition(Set(numbers).count == numbers.count, "two descriptors for one number of a program: \(numbers)")
        let first = (numbers.max() ?? 0) + 1
        var copies: [DescriptorOwner] = []
        for descriptor in passed.map(\.descriptor) {
            let copy = duplicate(descriptor, atLeast: first)
            guard copy >= 0 else { return nil }
            copies.append(DescriptorOwner(copy))
        }
        return copies
    }
}
