internal import CommandModel
internal import Identity
internal import NodeModel
internal import NodeService

/// An invitation among the arguments, where every program on the machine can read it.
enum SecretArgument {
    /// Returns the failure that says what to do instead, for any command; nil if no argument is an invitation.
    static func failure(in arguments: [String]) -> CommandFailure? {
        guard arguments.contains(where: Invitation.isText) else { return nil }
        return CommandFailure(
            "secret-argument",
            .usage,
            "an invitation is a secret, and every program on this machine can read the arguments of another: nothing was"
                + " done. Ask for a new invitation, run the command without it, and paste it when asked or give it on"
                + " standard input"
        )
    }
}
