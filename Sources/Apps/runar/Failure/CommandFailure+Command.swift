internal import ArgumentParser
internal import NodeModel
internal import NodeService

extension CommandFailure {
    /// Finds the word and the exit status for whatever a command threw.
    init(ofCommand error: any Error) {
        switch error {
        case is CancellationError: self = .interrupted("interrupted before it was done")
        case let error as ValidationError: self.init("usage", .usage, error.message)
        default: self.init(error)
        }
    }

    /// The failure with the home of this command in what it advises to run.
    var withHome: CommandFailure { CommandFailure(code, status, HomeHint.repeated(in: message)) }
}
