<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>Amounts</name>
    <message numerus="yes">
        <source>%n bytes</source>
        <translation>
            <numerusform>%n byte</numerusform>
            <numerusform>%n bytes</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>BatchCounts</name>
    <message numerus="yes">
        <source>%Ln already exist</source>
        <translation>
            <numerusform>%Ln already exists</numerusform>
            <numerusform>%Ln already exist</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>BatchFailures</name>
    <message numerus="yes">
        <source>%n more failed</source>
        <translation>
            <numerusform>%n more failed</numerusform>
            <numerusform>%n more failed</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>BatchInputs</name>
    <message numerus="yes">
        <source>Images listed in the job file: %n</source>
        <translation>
            <numerusform>Images listed in the job file: %n</numerusform>
            <numerusform>Images listed in the job file: %n</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>at most %n</source>
        <translation>
            <numerusform>at most %n</numerusform>
            <numerusform>at most %n</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CreateModel</name>
    <message numerus="yes">
        <source>%n images of the batch are waiting in the queue.</source>
        <translation>
            <numerusform>%n image of the batch is waiting in the queue.</numerusform>
            <numerusform>%n images of the batch are waiting in the queue.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DifferencesDialog</name>
    <message numerus="yes">
        <source>(%n more characters not shown; Apply uses the full text)</source>
        <translation>
            <numerusform>(%n more character not shown; Apply uses the full text)</numerusform>
            <numerusform>(%n more characters not shown; Apply uses the full text)</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DropHandler</name>
    <message numerus="yes">
        <source>%n more cannot be used.</source>
        <translation>
            <numerusform>%n more cannot be used.</numerusform>
            <numerusform>%n more cannot be used.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DroppedQuestions</name>
    <message numerus="yes">
        <source>There are more images than that; only the first %n are used.</source>
        <translation>
            <numerusform>There are more images than that; only the first is used.</numerusform>
            <numerusform>There are more images than that; only the first %n are used.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>GalleryBar</name>
    <message numerus="yes">
        <source>%n or more stars</source>
        <translation>
            <numerusform>%n or more stars</numerusform>
            <numerusform>%n or more stars</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>GalleryModel</name>
    <message numerus="yes">
        <source>Stars: %n</source>
        <translation>
            <numerusform>Stars: %n</numerusform>
            <numerusform>Stars: %n</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>GalleryTrash</name>
    <message numerus="yes">
        <source>%n more could not be moved</source>
        <translation>
            <numerusform>%n more could not be moved</numerusform>
            <numerusform>%n more could not be moved</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more could not be restored</source>
        <translation>
            <numerusform>%n more could not be restored</numerusform>
            <numerusform>%n more could not be restored</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ImageActions</name>
    <message numerus="yes">
        <source>%n stars</source>
        <translation>
            <numerusform>%n star</numerusform>
            <numerusform>%n stars</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ImagesAgain</name>
    <message numerus="yes">
        <source>%n variations are waiting in the queue</source>
        <translation>
            <numerusform>%n variation is waiting in the queue</numerusform>
            <numerusform>%n variations are waiting in the queue</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ModelLibrary</name>
    <message numerus="yes">
        <source>All %n files are complete; there are no checksums to compare with.</source>
        <translation>
            <numerusform>The file is complete; there is no checksum to compare with.</numerusform>
            <numerusform>All %n files are complete; there are no checksums to compare with.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>All %n files match their checksums.</source>
        <translation>
            <numerusform>The file matches its checksum.</numerusform>
            <numerusform>All %n files match their checksums.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ModelsFound</name>
    <message numerus="yes">
        <source>%n files cannot be used: {names}. The Models page shows why.</source>
        <translation>
            <numerusform>%n file cannot be used: {names}. The Models page shows why.</numerusform>
            <numerusform>%n files cannot be used: {names}. The Models page shows why.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n models added: {names}. Select one under Model.</source>
        <translation>
            <numerusform>%n model added: {names}. Select it under Model.</numerusform>
            <numerusform>%n models added: {names}. Select one under Model.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Notifications</name>
    <message numerus="yes">
        <source>Failed: %n. See the queue for details.</source>
        <translation>
            <numerusform>Failed: %n. See the queue for details.</numerusform>
            <numerusform>Failed: %n. See the queue for details.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Images generated: %n.</source>
        <translation>
            <numerusform>Images generated: %n.</numerusform>
            <numerusform>Images generated: %n.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>PageActions</name>
    <message numerus="yes">
        <source>%n stars</source>
        <translation>
            <numerusform>%n star</numerusform>
            <numerusform>%n stars</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>QueueCounts</name>
    <message numerus="yes">
        <source>%Ln images</source>
        <translation>
            <numerusform>%Ln image</numerusform>
            <numerusform>%Ln images</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln jobs</source>
        <translation>
            <numerusform>%Ln job</numerusform>
            <numerusform>%Ln jobs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Failed so far: %n of {tasks}</source>
        <translation>
            <numerusform>Failed so far: %n of {tasks}</numerusform>
            <numerusform>Failed so far: %n of {tasks}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Failed so far: %n of {tasks}: {error}</source>
        <translation>
            <numerusform>Failed so far: %n of {tasks}: {error}</numerusform>
            <numerusform>Failed so far: %n of {tasks}: {error}</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SettingsCounts</name>
    <message numerus="yes">
        <source>%n steps</source>
        <translation>
            <numerusform>%n step</numerusform>
            <numerusform>%n steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>LoRAs: %n</source>
        <translation>
            <numerusform>LoRAs: %n</numerusform>
            <numerusform>LoRAs: %n</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>StarRow</name>
    <message numerus="yes">
        <source>%n stars (key: the digit; 0: none)</source>
        <translation>
            <numerusform>%n star (key: the digit; 0: none)</numerusform>
            <numerusform>%n stars (key: the digit; 0: none)</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Rating: %n stars</source>
        <translation>
            <numerusform>Rating: %n star</numerusform>
            <numerusform>Rating: %n stars</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>StyleChoices</name>
    <message numerus="yes">
        <source>%n styles added</source>
        <translation>
            <numerusform>%n style added</numerusform>
            <numerusform>%n styles added</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n were there already</source>
        <translation>
            <numerusform>%n was there already</numerusform>
            <numerusform>%n were there already</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Training</name>
    <message numerus="yes">
        <source>%n images</source>
        <translation>
            <numerusform>%n image</numerusform>
            <numerusform>%n images</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n images have a warning sign: point at them to read why.</source>
        <translation>
            <numerusform>%n image has a warning sign: point at it to read why.</numerusform>
            <numerusform>%n images have a warning sign: point at them to read why.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n steps</source>
        <translation>
            <numerusform>%n step</numerusform>
            <numerusform>%n steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>All of %n images have captions.</source>
        <translation>
            <numerusform>The image has a caption.</numerusform>
            <numerusform>All of %n images have captions.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Finished after %n steps.</source>
        <translation>
            <numerusform>Finished after %n step.</numerusform>
            <numerusform>Finished after %n steps.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>WaitingCounts</name>
    <message numerus="yes">
        <source>%Ln jobs need attention</source>
        <translation>
            <numerusform>%Ln job needs attention</numerusform>
            <numerusform>%Ln jobs need attention</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln jobs waiting</source>
        <translation>
            <numerusform>%Ln job waiting</numerusform>
            <numerusform>%Ln jobs waiting</numerusform>
        </translation>
    </message>
</context>
</TS>
