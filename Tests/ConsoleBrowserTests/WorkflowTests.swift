internal import Testing

extension ConsoleInBrowser {
    @Suite("Workflows") struct WorkflowTests {
        @Test func `a network is created, and its code and recovery phrase are shown`() async throws {
            try await BrowserScenario.play("joining.network_creation")
        }

        @Test func `a wrong name or number is reported at its field, and one key creates two networks`() async throws {
            try await BrowserScenario.play("creating.settings")
        }

        @Test func `an imported master key creates networks with a chosen number`() async throws {
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

        @Test func `messages arrive on every page, and files only after a yes`() async throws {
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

        @Test func `no message is sent unsealed while the key state is unknown`() async throws {
            try await BrowserScenario.play("sealing.unknown_keys")
        }

        @Test func `two people add each other to their circles, talk, and compare their safety number`() async throws {
            try await BrowserScenario.play("circles.two_people")
        }

        @Test func `an image is shown to both people and saved, and other files are refused`() async throws {
            try await BrowserScenario.play("circles.attachments")
        }

        @Test func `a thought waits for an absent device, and revoked trust is explained`() async throws {
            try await BrowserScenario.play("circles.away_and_revoked")
        }

        @Test func `the code of a card adds a person`() async throws {
            try await BrowserScenario.play("circles.cards")
        }

        @Test func `a group is created, joined, written in by both people, left and deleted`() async throws {
            try await BrowserScenario.play("circles.group")
        }

        @Test func `a member only reads in a group whose creator alone writes`() async throws {
            try await BrowserScenario.play("circles.one_writer")
        }

        @Test func `a search that ended early continues by itself, and can be stopped`() async throws {
            try await BrowserScenario.play("circles.long_search")
        }

        @Test func `a second device gets a person's circle, and posts on either appear on both`() async throws {
            try await BrowserScenario.play("circles.own_devices")
        }

        @Test func `a blocked person is listed, and can be asked again once the block is lifted`() async throws {
            try await BrowserScenario.play("circles.blocking")
        }

        @Test func `a large file shows its progress and resumes where its sender stopped it`() async throws {
            try await BrowserScenario.play("files.sender_stops")
        }

        @Test func `a disconnect stops an incoming transfer, and both sides see it`() async throws {
            try await BrowserScenario.play("files.receiver_stops")
        }

        @Test func `two files of one name are both kept, and neither waits for the other`() async throws {
            try await BrowserScenario.play("files.same_name")
        }

        @Test func `both writers of a key are named, and a change of an old value is reported`() async throws {
            try await BrowserScenario.play("using.two_writers")
        }

        @Test func `devices without a direct path talk through a relay and see it`() async throws {
            try await BrowserScenario.play("using.over_another")
        }

        @Test func `a device that was discovered nearby but never connected is listed as such`() async throws {
            try await BrowserScenario.play("nearby.heard_only")
        }

        @Test func `a published event appears in the feed of a subscriber`() async throws {
            try await BrowserScenario.play("using.topics")
        }

        @Test func `a service of another device answers the request of a form`() async throws {
            try await BrowserScenario.play("using.services")
        }

        @Test func `a new user completes the first hour with the help of the screens`() async throws {
            try await BrowserScenario.play("newcomer.first_hour")
        }
    }
}
