package import ArgumentParser
package import CommandModel
internal import Concurrency
internal import Platform

/// The root command of a program: it reads the arguments, runs the command that they name, and reports its end.
package protocol Program: AsyncParsableCommand {
    /// Words of other programs, with the command of this one that does what they do there.
    static var synonyms: [String: String] { get }

    /// Returns the failure of arguments that no command may get; nil for others.
    static func refusal(of arguments: [String]) -> CommandFailure?

    /// Returns a text for people with the commands in it completed for this invocation, such as by the option that names
    /// the data.
    static func completed(_ text: String) -> String
}

extension Program {
    package static var synonyms: [String: String] { [:] }

    package static func refusal(of arguments: [String]) -> CommandFailure? { nil }

    package static func completed(_ text: String) -> String { text }

    /// Runs the command and ends the process with its exit status.
    package static func begin() async -> Never {
        Advice.completion.fulfil { completed($0) }
        Posix.occupyStandardDescriptors()
        Posix.keepMemoryPrivate()
        Posix.ignoreSignals([Posix.brokenPipe])
        if let file = SystemProcess.missingArgumentsFile {
            let failure = CommandFailure(
                "no-arguments",
                .configuration,
                "the arguments of this command are unknown, because \(file) cannot be read: mount /proc"
            )
            Output.failure(failure, asJSON: false)
            Output.end(Output.exitStatus(of: failure))
        }
        let arguments = Array(CommandLine.arguments.dropFirst())
        let asJSON = arguments.prefix { $0 != "--" }.contains("--json")
        Output.end(await perform(arguments, asJSON: asJSON))
    }

    /// Runs the command and returns its exit status.
    private static func perform(_ arguments: [String], asJSON: Bool) async -> Int32 {
        if let failure = refusal(of: arguments) {
            Output.failure(failure, asJSON: asJSON)
            return Output.exitStatus(of: failure)
        }
        var command: any ParsableCommand
        do {
            command = try parseAsRoot(arguments)
        } catch {
            return report(parsing: error, arguments, asJSON: asJSON)
        }
        do {
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            return ExitStatus.success.rawValue
        } catch let code as ExitCode {
            return code.rawValue
        } catch {
            // Requests for help and the like are the parser's; everything else is ours.
            if exitCode(for: error) == .success { return show(error) }
            let failure = CommandFailure(ofCommand: error)
            Output.failure(failure, asJSON: asJSON)
            return Output.exitStatus(of: failure)
        }
    }

    /// Reports an error of the parser, a mistake on the command line or a request for help, and returns the exit status.
    private static func report(parsing error: any Error, _ arguments: [String], asJSON: Bool) -> Int32 {
        let unknown = UnknownCommand.failure(in: arguments, of: Self.self)
        guard exitCode(for: error) != .success || arguments.first == "help" && unknown != nil else {
            return show(error)
        }
        guard asJSON || unknown != nil else { return show(error) }
        Output.failure(unknown ?? CommandFailure("usage", .usage, message(for: error)), asJSON: asJSON)
        return ExitStatus.usage.rawValue
    }

    /// Shows a text of the parser, such as help, and returns the exit status.
    private static func show(_ error: any Error) -> Int32 {
        let (text, status) = (fullMessage(for: error), exitCode(for: error))
        if status == .success {
            try? Output.raw(text + "\n")  // reported when the process ends
        } else {
            Output.note(text)
        }
        return status.rawValue
    }
}
