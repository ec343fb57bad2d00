/// The texts of errors in English, each in the form of a `.strings` file. A resource that is embedded in code would be an array literal of its bytes.
enum EnglishTexts {
    /// The messages, as in `en.lproj/ErrorMessages.strings`.
    static let messages = #"""
        /* The texts of errors in English: "code" = "text";
           %1$@ is the program's description of the failure, with the names it used; see the error's arguments for the others. */

        // The local store.
        "1001" = "A call came out of order or with a wrong value (%1$@).";
        "1002" = "There is not enough memory (%1$@).";
        "1003" = "The local database failed (%1$@).";
        "1004" = "The local database refused a row (%1$@).";
        "1005" = "The local database was busy for too long (%1$@).";
        "1006" = "The work was cancelled (%1$@).";
        "1007" = "The local database is closed (%1$@).";
        "1008" = "Something that is needed does not exist (%1$@).";
        "1009" = "The local database is damaged (%1$@).";
        "1010" = "Received data are not valid at byte %2$@ (%1$@).";
        "1011" = "A received value has the wrong type, in row %3$@ (%1$@).";
        "1012" = "Received data ended too early, at byte %2$@ (%1$@).";
        "1013" = "Received data are damaged (%1$@).";
        "1014" = "Received data are larger than allowed (%1$@).";
        "1015" = "There is no space left on the device (%1$@).";
        "1016" = "The device could not read or write a file (%1$@).";
        "1017" = "The local database can only be read (%1$@).";
        "1018" = "A large value can only be written at its end (%1$@).";
        "1019" = "More was written than was announced (%1$@).";
        "1101" = "The large value is not open (%1$@).";
        "1102" = "The large value is still open (%1$@).";
        "1103" = "The object of the large value is not saved yet (%1$@).";

        // Objects.
        "2001" = "The local database failed (%1$@).";
        "2002" = "The object does not exist (%1$@).";
        "2003" = "An object with this key exists already (%1$@).";
        "2004" = "The object was changed in the meantime (%1$@).";
        "2005" = "A value is missing (%1$@).";
        "2006" = "A value does not fit (%1$@).";
        "2007" = "The object is not saved yet (%1$@).";
        "2008" = "The object is saved already (%1$@).";
        "2009" = "New objects need a first synchronization (%1$@).";
        "2010" = "New objects need a synchronization: all keys are used (%1$@).";
        "2011" = "There is no such class (%1$@).";
        "2012" = "There is no such attribute (%1$@).";
        "2013" = "There is no such operation (%1$@).";
        "2014" = "There is no such parameter (%1$@).";
        "2015" = "There is no such relationship (%1$@).";
        "2016" = "Another operation of the object waits for its answer (%1$@).";
        "2017" = "This is not possible here (%1$@).";
        "2018" = "The local database does not fit this application (%1$@).";
        "2019" = "A query is not valid (%1$@).";
        "2020" = "A stored value is damaged (%1$@).";
        "2021" = "The local database does not exist (%1$@).";
        "2022" = "A query names a class that has no objects of its own (%1$@).";
        "2023" = "A value cannot be read as this type (%1$@).";
        "2024" = "A value has another type (%1$@).";
        "2025" = "Values of this type cannot be compared or summed up (%1$@).";
        "2026" = "An index cannot be made or does not exist (%1$@).";
        "2027" = "The work was cancelled (%1$@).";
        "2040" = "A file of texts is not valid (%1$@).";
        "2041" = "A file could not be written (%1$@).";

        // Synchronization.
        "400" = "The server did not accept what it was sent (%1$@).";
        "401" = "User or password are wrong (%1$@).";
        "403" = "You are not allowed to do this (%1$@).";
        "404" = "The server does not have what is needed (%1$@).";
        "405" = "There is no licence for this device (%1$@).";
        "409" = "The server is busy; try again later (%1$@).";
        "412" = "The server's rules refused a change (%1$@).";
        "413" = "More was sent than the server accepts (%1$@).";
        "424" = "A change was not made, because it needs something whose creation was refused (%1$@).";
        "500" = "The server failed (%1$@).";
        "503" = "The server is not available; try again later (%1$@).";
        "63" = "The connection to the server broke; try again later (%1$@).";
        "571" = "The work takes longer than expected and continues in the background (%1$@).";
        "580" = "The server does not know this device (%1$@).";
        "581" = "The application is too old for the server: update it (%1$@).";
        "6600" = "The synchronization was cancelled (%1$@).";
        "-794" = "The server refused the changes, because it was restored from a backup (%1$@).";
        "14801" = "The application has no identifier, or one that is too long (%1$@).";
        "14802" = "A setting of the connection is missing or wrong (%1$@).";
        "14810" = "This is not possible now (%1$@).";
        "14811" = "There are changes that the server does not have yet (%1$@).";
        "14813" = "The server was not reached; try again later (%1$@).";
        "14816" = "The local database failed (%1$@).";
        "14871" = "The application is not registered (%1$@).";
        "14899" = "Something unexpected happened (%1$@).";

        // Vaults.
        "50" = "A password is required (%1$@).";
        "51" = "The password is too short (%1$@).";
        "52" = "The password needs a digit (%1$@).";
        "53" = "The password needs an upper case character (%1$@).";
        "54" = "The password needs a lower case character (%1$@).";
        "55" = "The password needs a special character (%1$@).";
        "56" = "The password needs more different characters (%1$@).";
        "57" = "The password has expired (%1$@).";
        "3001" = "A name or a number cannot be used (%1$@).";
        "3002" = "The vault does not exist (%1$@).";
        "3003" = "The password is wrong (%1$@).";
        "3004" = "The password was wrong too often: the vault has been deleted (%1$@).";
        "3005" = "The vault is locked (%1$@).";
        "3006" = "The vault is damaged (%1$@).";
        "3007" = "The vault cannot be read (%1$@).";
        "3008" = "The vault cannot be written (%1$@).";
        "3009" = "The vault is in use; try again later (%1$@).";
        "3010" = "Something could not be encrypted or decrypted (%1$@).";
        """#

    /// The remedies, as in `en.lproj/ErrorRemedies.strings`.
    static let remedies = #"""
        /* What helps after an error, in English: "code" = "text"; the same sentences as in the article Errors. */

        // The local store.
        "1001" = "Correct the call; the message names the range.";
        "1002" = "Free memory and repeat the call. Nothing was changed.";
        "1003" = "Look up sqliteCode, SQLite's extended result code.";
        "1004" = "Correct the row. sqliteCode names the kind of constraint.";
        "1005" = "Repeat the call later, or raise the timeout. The message names the holder where it is known.";
        "1006" = "None needed. The transaction was rolled back.";
        "1007" = "Open it again.";
        "1008" = "Correct the name, or create it.";
        "1009" = "Close the database. Restore a backup, or choose another path and synchronize again.";
        "1010" = "Correct the input at byteOffset.";
        "1011" = "Correct the value in row, at byteOffset.";
        "1012" = "Send the whole input again.";
        "1013" = "Send the input again.";
        "1014" = "Raise the limit, see the article Limits, or refuse the input.";
        "1015" = "Free space and repeat the call.";
        "1016" = "Check the disk and the permissions of the file.";
        "1017" = "Open the database for writing.";
        "1018" = "Write at the end, or write a new value.";
        "1019" = "Announce the right length, or none.";
        "1101" = "Open it first.";
        "1102" = "Close it first.";
        "1103" = "Create the object first.";

        // Objects.
        "2001" = "Look at cause, a StoreError.";
        "2002" = "Search again before the next update or delete.";
        "2003" = "Update that row, or choose another key.";
        "2004" = "Call refresh(), apply the change again, save.";
        "2005" = "Set the attribute that the message names.";
        "2006" = "Correct the value: type, length, precision or null.";
        "2007" = "Call create() or save() first.";
        "2008" = "Call update() or save().";
        "2010" = "Submit the pending changes and synchronize.";
        "2011" = "Correct the name.";
        "2012" = "Correct the name.";
        "2013" = "Correct the name.";
        "2014" = "Correct the name.";
        "2015" = "Correct the name.";
        "2016" = "Submit, synchronize, then change the row.";
        "2017" = "Correct the call.";
        "2018" = "Choose another file where it is not this application's; install the newer application where the file is newer; correct the model where an upgrade is refused. See the article Upgrades.";
        "2019" = "Correct the query; the message quotes the part.";
        "2020" = "Correct the value where it comes from and synchronize, or delete the database and synchronize again.";
        "2021" = "Create the database, or correct the path.";
        "2022" = "Query the object that contains it.";
        "2023" = "Use the nullable getter, or a wider type.";
        "2024" = "Use the getter of its type.";
        "2025" = "Use another attribute.";
        "2026" = "Correct its name or its attributes.";
        "2027" = "Call it again for the rows that are left; the message has their number.";
        "2040" = "Correct the line that the message names.";
        "2041" = "Check the path, the permissions and the free space.";

        // Synchronization.
        "63" = "Repeat the synchronization. If it fails again, check proxies between device and server.";
        "400" = "Correct the request as the message says. Where the models differ, serve the application's model, or give the newer model another version.";
        "401" = "Ask the user for the credentials.";
        "403" = "Ask the administrator.";
        "404" = "Deploy the package, or subscribe again. Check urlSuffix where no MobileObjects server answers.";
        "405" = "Ask the administrator.";
        "409" = "Repeat the synchronization later.";
        "412" = "Correct the change, or cancel it.";
        "413" = "Submit less at a time, or raise the limit of the server. See the article Limits.";
        "429" = "Wait for retryAfter, then repeat.";
        "500" = "Read the log of the server.";
        "502" = "Repeat later. Check proxy and server.";
        "503" = "Wait for retryAfter, then repeat.";
        "504" = "Repeat later. Raise the timeout of the proxy.";
        "571" = "Wait for the callback, or call again.";
        "580" = "Register the application again.";
        "581" = "Update the application. Its outbox is kept.";
        "6600" = "None needed. The next synchronization continues.";
        "-794" = "Synchronize again; the operations stay in the outbox.";
        "14801" = "Set it before you register. See the article Limits.";
        "14802" = "Set the property that the message names.";
        "14810" = "Do the missing step first; the message names it.";
        "14811" = "Submit and synchronize the changes, cancel them, or say that they are to be discarded.";
        "14813" = "Check network, host, port and certificate; repeat.";
        "14816" = "Look at cause, a StoreError or a ProtocolError.";
        "14871" = "Call register() first.";
        "14899" = "Look at cause.";

        // Vaults.
        "50" = "Ask for a password.";
        "51" = "Ask for a longer password.";
        "52" = "Ask for a password with a digit.";
        "53" = "Ask for a password with one.";
        "54" = "Ask for a password with one.";
        "55" = "Ask for a password with one.";
        "56" = "Ask for more variety.";
        "57" = "Change the password.";
        "3001" = "Correct the argument.";
        "3002" = "Create the vault, or correct the name.";
        "3003" = "Ask again. Failed attempts count towards retryLimit.";
        "3004" = "Create the vault again and fill it.";
        "3005" = "Unlock it first.";
        "3006" = "Restore the file, or delete the vault and create it again.";
        "3007" = "Check the permissions.";
        "3008" = "Check permissions and free space.";
        "3009" = "Repeat the call.";
        "3010" = "Check the installation of libcrypto.";
        """#
}
