internal import Testing

extension ConsoleInBrowser {
    @Suite("Workflows") struct WorkflowTests {
        @Test func `a network is made, and its code and recovery phrase are shown`() async throws {
            try await BrowserScenario.play("joining.network_creation")
        }

        @Test func `a wrong name or number is told at its field, and one key makes two networks`() async throws {
            try await BrowserScenario.play("creating.settings")
        }

        @Test func `a master key from elsewhere makes networks with a number that a person says`() async throws {
            try await BrowserScenario.play("creating.brought_key")
        }

        @Test func `one scan and six digits make a member`() async throws {
            try await BrowserScenario.play("joining.joining_by_invitation")
        }

        @Test func `three codes from screen to screen make a member with nothing over the air`() async throws {
            try await BrowserScenario.play("joining.joining_by_codes")
        }

        @Test func `two members connect by a code, and both read how they are connected`() async throws {
            try await BrowserScenario.play("using.peer_connection")
        }

        @Test func `values are stored, found on another device, changed and deleted`() async throws {
            try await BrowserScenario.play("using.hash_table")
        }

        @Test func `messages arrive wherever one is, and files only after a yes`() async throws {
            try await BrowserScenario.play("using.messages_and_files")
        }

        @Test func `one-time keys are exchanged and compared, and sealed messages use them up`() async throws {
            try await BrowserScenario.play("sealing.one_time_keys")
        }

        @Test func `a safety number that differs is refused`() async throws {
            try await BrowserScenario.play("sealing.wrong_numbers")
        }

        @Test func `a sealed message to a device without the keys is shown as not delivered`() async throws {
            try await BrowserScenario.play("sealing.without_keys")
        }

        @Test func `nothing is sent unsealed while it is not known whether there are keys`() async throws {
            try await BrowserScenario.play("sealing.unknown_keys")
        }

        @Test func `two people add each other to their circles, talk, and compare their safety number`() async throws {
            try await BrowserScenario.play("circles.two_people")
        }

        @Test func `an image is shown to both people and saved, and other files are refused`() async throws {
            try await BrowserScenario.play("circles.attachments")
        }

        @Test func `a thought waits for a device that is away, and revoked trust says what it means`() async throws {
            try await BrowserScenario.play("circles.away_and_revoked")
        }

        @Test func `the code of a card adds a person`() async throws {
            try await BrowserScenario.play("circles.cards")
        }

        @Test func `a group is made, joined, written in by both people, left and deleted`() async throws {
            try await BrowserScenario.play("circles.group")
        }

        @Test func `a member only reads where the creator of a group alone writes`() async throws {
            try await BrowserScenario.play("circles.one_writer")
        }

        @Test func `a search that ended early continues by itself, and can be stopped`() async throws {
            try await BrowserScenario.play("circles.long_search")
        }

        @Test func `a device gets a person's circle, and what is written on either appears on both`() async throws {
            try await BrowserScenario.play("circles.own_devices")
        }

        @Test func `a blocked person is listed, and can be asked again once the block is lifted`() async throws {
            try await BrowserScenario.play("circles.blocking")
        }

        @Test func `a large file shows how far it is, and goes on where its sender stopped it`() async throws {
            try await BrowserScenario.play("files.sender_stops")
        }

        @Test func `who disconnects stops what is coming, and both read so`() async throws {
            try await BrowserScenario.play("files.receiver_stops")
        }

        @Test func `two files of one name are both kept, and none is waited for`() async throws {
            try await BrowserScenario.play("files.same_name")
        }

        @Test func `of two writers of a key each is named, and who changes an old value reads so`() async throws {
            try await BrowserScenario.play("using.two_writers")
        }

        @Test func `devices with no way between them talk over another one, and read so`() async throws {
            try await BrowserScenario.play("using.over_another")
        }

        @Test func `who is only heard nearby, and was never met, is listed as such`() async throws {
            try await BrowserScenario.play("nearby.heard_only")
        }

        @Test func `what is published stands in the feed of who listens`() async throws {
            try await BrowserScenario.play("using.topics")
        }

        @Test func `a service of another device answers what a form asks`() async throws {
            try await BrowserScenario.play("using.services")
        }

        @Test func `a newcomer gets through the first hour by what the screens say`() async throws {
            try await BrowserScenario.play("newcomer.first_hour")
        }
    }
}
