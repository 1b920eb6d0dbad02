BEGIN TRANSACTION;
CREATE TABLE certificate (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
CREATE TABLE choice (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
INSERT INTO "choice" VALUES('default','default',1,'{"action":"ask","actions":["retry","read the log","ask"],"at":null,"cost":1.0,"explores":true,"id":"d1","judged":null,"probability":1.0,"reward":null,"situation":"x1","slot":0,"taken":21,"why":"nobody knows yet how it does"}');
CREATE TABLE context (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    slot INTEGER, body TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
INSERT INTO "context" VALUES('default','default',1,0,'{"answer":"","asker":null,"at":null,"channel":"none","conditions":[],"credible":false,"id":"a1","kept":[],"known":false,"lead":null,"query":"Which spout has the kettle?","read":[["e2",0,25],["e5",0,25]],"redacted":true,"reference":null,"rewards":[],"slot":0,"supports":["e2","e5"],"told":[],"untested":[],"verdicts":[]}',X'3754A2BDBF48ECBE83768ABE9FF2FC3E42CBD6BD9EFFC2BE23E6F13D55242FBD6F2ACEBD79F9A03E25A88EBEAC898E3E5E4AA63D77CA51BDC39AEA3D694E94BD');
INSERT INTO "context" VALUES('default','default',2,0,'{"answer":"","asker":null,"at":null,"channel":"reference","conditions":[],"credible":false,"id":"a2","kept":[],"known":false,"lead":null,"query":"Which valve has the boiler?","read":[["e2",0,25]],"redacted":true,"reference":"a broken valve","rewards":[0.0],"slot":0,"supports":[],"told":["reference"],"untested":[],"verdicts":[]}',X'4F14503E5B0CECBE671A11BECF6344BEF10053BEF97A9F3E502D31BED53A283E53EA1F3E72DFBB3D5AFEE23C694842BE6A9516BF6EB4A9BD7BFA2CBC81CA873E');
INSERT INTO "context" VALUES('default','default',3,0,'{"answer":"<demem:memory>\n# undated\n- the violin has a copper bow 2\n- the boiler has a silver valve\n- [no longer] the bridge has a red gate\n- the bridge has a red gate now\n</demem:memory>","asker":null,"at":null,"channel":"none","conditions":[],"credible":false,"id":"a3","kept":[],"known":true,"lead":3,"query":"Which gate has the bridge?","read":[["e12",0,29],["e13",0,29],["e14",0,25],["e15",0,29]],"redacted":false,"reference":null,"rewards":[],"slot":0,"supports":["e12","e13","e14","e15"],"told":[],"untested":[],"verdicts":[]}',X'798D5E3E063C063FC2BD2DBE646B653E9E8C823DB561F53E4A1295BDF9725B3EE2816ABD43A3ABBE021DCABE9DE39FBA112005BEABB7BB3D58A2FCBDF61830BD');
CREATE TABLE cover (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, slot INTEGER NOT NULL, place INTEGER NOT NULL,
    evidence INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    PRIMARY KEY (tenant, memory_id, slot, place));
INSERT INTO "cover" VALUES('default','default',0,0,12,0,29);
INSERT INTO "cover" VALUES('default','default',0,1,11,0,29);
INSERT INTO "cover" VALUES('default','default',0,2,10,0,29);
INSERT INTO "cover" VALUES('default','default',0,3,5,0,25);
CREATE TABLE erasure (owed INTEGER NOT NULL, era INTEGER NOT NULL DEFAULT 0);
INSERT INTO "erasure" VALUES(0,0);
CREATE TABLE evidence (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    slot INTEGER NOT NULL, text BLOB NOT NULL, speaker BLOB, at TEXT, session BLOB, source BLOB,
    source_id BLOB, trust REAL NOT NULL, spans TEXT NOT NULL, vectors BLOB NOT NULL, metadata TEXT, made_from TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (tenant, memory_id, number));
INSERT INTO "evidence" VALUES('default','default',2,0,X'7468652076696F6C696E206861732061207769646520626F77',NULL,NULL,NULL,NULL,X'6F66206B31',1.0,'[[0,25]]',X'3C7036BE8093ABBEA9B59A3EA74304BE34CA5EBE08362F3EA62E44BE509F933DAD100D3F8BBA3BBEADC3873EB159163E4066DE3E1B4949BDA2A52FBDF237B0BD',NULL,'[]');
INSERT INTO "evidence" VALUES('default','default',3,0,X'746865207069616E6F206861732061206E6577206B65792030',X'416E61',NULL,NULL,NULL,X'6F66206B32',1.0,'[[0,25]]',X'AF43643EF1D46F3EAD2DDB3D7B5458BECB571C3E457DA73E6C74ECBAD7416EBD7DCD443EB077BF3ED680C13E8DC72DBDFD2C8C3EC103E6BEF6FCDE3D07509EBE',NULL,'[]');
INSERT INTO "evidence" VALUES('default','default',5,0,X'746865207069616E6F206861732061206E6577206B65792032',X'416E61',NULL,NULL,NULL,X'6F66206B32',1.0,'[[0,25]]',X'09A4D4BD4ABE883EB32C41BD610F46BD8A4298BAE1BF313E863A32BE916E69BD8A81DA3E25A6213D993CD23E5185ED3D0808BD3D26DB07BFE438E5BC3DEAE0BE',NULL,'[]');
INSERT INTO "evidence" VALUES('default','default',9,0,X'746865206665727279206861732061206E65772062656C6C',NULL,NULL,NULL,NULL,X'6F66206B39',1.0,'[[0,24]]',X'B993913D69BA85BD4424F93DFA6FC13BDE74C33E9DDEB7BEFBE55B3C9B75DC3D927BAE3E1A6ADB3E37780D3EDEBA0E3EE955723E148A27BDC68F2A3E96F203BF',NULL,'[]');
INSERT INTO "evidence" VALUES('default','default',10,0,X'7468652076696F6C696E20686173206120636F7070657220626F772030',NULL,NULL,NULL,NULL,X'6F66206B3132',1.0,'[[0,29]]',X'69E4B73E32BF113EE973AE3BD9236FBE49E6943D39D5EE3EE01ADCBECE188B3EEE2E783E06E01A3E937C273ED0343FBE97EAA43EFF0365BE112B043E35B402BD',NULL,'[]');
INSERT INTO "evidence" VALUES('default','default',11,0,X'7468652076696F6C696E20686173206120636F7070657220626F772031',NULL,NULL,NULL,NULL,X'6F66206B3132',1.0,'[[0,29]]',X'0A643A3EEFD751BD64745ABE5D066CBEBF2F42BE2937693EA34819BF7709693E597B863E16158D3D0471613E8DAFBE3EF4FC7A3EF225C23A737D353E3955FBBD',NULL,'[]');
INSERT INTO "evidence" VALUES('default','default',12,0,X'7468652076696F6C696E20686173206120636F7070657220626F772032',NULL,NULL,NULL,NULL,X'6F66206B3132',1.0,'[[0,29]]',X'B2150D3DB1ABCE3DFF8737BEEA7E23BD6CD5F1BD6D798D3E369D2ABF85FEB13E58BAD73E989890BE5CD4863D5F0C72BDCC9FD03DB8751BBE1C9A8EBC7E1EE0BC',NULL,'[]');
INSERT INTO "evidence" VALUES('default','default',13,0,X'74686520626F696C65722068617320612073696C7665722076616C7665',NULL,NULL,NULL,NULL,X'6F66206B3133',1.0,'[[0,29]]',X'3AAA69BDF8319DBE23E9AEBD92A111BEFA26F0BE711CF33D445C8DBE6F2C763EAFB7A33E332626BD6134A03C089097BEEA05F6BEA7F1BBBD3A0F6EBE646C163E',NULL,'[]');
INSERT INTO "evidence" VALUES('default','default',14,0,X'74686520627269646765206861732061207265642067617465',NULL,NULL,NULL,NULL,X'6F66206B3135',1.0,'[[0,25]]',X'3761633EF8901A3FB5C580BD2373163E8EA2673C0EBCF23EF614E8BD9A84C43D8C7360BE3DBB9ABEFCD732BE75397B3D2A09CFBD53DDE6BD366E11BED4589FBE',NULL,'[]');
INSERT INTO "evidence" VALUES('default','default',15,0,X'74686520627269646765206861732061207265642067617465206E6F77',NULL,NULL,NULL,NULL,X'6F66206B3135',1.0,'[[0,29]]',X'3761633EF8901A3FB5C580BD2373163E8EA2673C0EBCF23EF614E8BD9A84C43D8C7360BE3DBB9ABEFCD732BE75397B3D2A09CFBD53DDE6BD366E11BED4589FBE',NULL,'[]');
CREATE TABLE mark (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    kept INTEGER NOT NULL, hidden INTEGER NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
INSERT INTO "mark" VALUES('default','default',2,1,0);
INSERT INTO "mark" VALUES('default','default',15,1,0);
CREATE TABLE memory (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, settings TEXT NOT NULL,
    seq INTEGER NOT NULL, evidence INTEGER NOT NULL, forgotten INTEGER NOT NULL,
    contexts INTEGER NOT NULL, certificates INTEGER NOT NULL, encoder TEXT NOT NULL,
    encoder_fingerprint TEXT NOT NULL, dimensions INTEGER NOT NULL, successions INTEGER NOT NULL DEFAULT 0, situations INTEGER NOT NULL DEFAULT 0, choices INTEGER NOT NULL DEFAULT 0, noted INTEGER NOT NULL DEFAULT 0, era INTEGER NOT NULL DEFAULT 0, made TEXT, changed TEXT,
    PRIMARY KEY (tenant, memory_id));
INSERT INTO "memory" VALUES('default','default','{"decide":{"budget":null,"chance":0.0,"delta":0.05,"noise":0.5,"steady":true,"tolerance":0.2},"decisions":true,"floor":0.0015,"initial_slots":1,"keep_days":null,"known_from":null,"mode":"evidence","most_items":null,"near":0.9,"order":"time","read_limit":180,"slot_limit":140,"slots":4,"split":{"c_beta":0.5,"counterfactuals":24,"delta":0.05,"eta_cal":0.05,"pairs":2,"sharing":0,"sigma_0":0.05,"tau_sat":0.3,"tau_split":0.1},"stale":"mark","storage":null,"tenant_items":null,"unit":"chars","unknown":"show","when_full":"worth"}',31,15,5,3,0,'bag','bag-16',16,10,1,1,0,0,'2026-11-26T11:35:14+00:00','2026-11-26T11:35:17+00:00');
CREATE TABLE op (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, seq INTEGER NOT NULL,
    kind TEXT NOT NULL, op_key BLOB, request TEXT NOT NULL, result TEXT NOT NULL,
    PRIMARY KEY (tenant, memory_id, seq));
INSERT INTO "op" VALUES('default','default',1,'ingest',X'6B30','e871486ff605fe38f514753a679c5caf57f4a94ffe4b5c13ea165b21d737d24f','{"evidence_id": "e1", "opened": true, "skipped": false, "slot": 0}');
INSERT INTO "op" VALUES('default','default',2,'ingest',X'6B31','fafe5a4d0dea77645462177eb15d6bb3eabee84e3ea6cb50d0bc49362fc7e919','{"evidence_id": "e2", "opened": false, "skipped": false, "slot": 0}');
INSERT INTO "op" VALUES('default','default',3,'ingest',X'6B322030','5b5415ab96d0d2d3cfffd835b51965496a4d76c15874a44eb6f7725a7b409ab9','{"evidence_id": "e3", "opened": false, "skipped": false, "slot": 0}');
INSERT INTO "op" VALUES('default','default',4,'ingest',X'6B322031','8045f1c262e107852ee0555210d004421214f88e3ed9bab95b89f7553e72a885','{"evidence_id": "e4", "opened": false, "skipped": false, "slot": 0}');
INSERT INTO "op" VALUES('default','default',5,'ingest',X'6B322032','1deb7764e578fa0cae41c0baa5e1c614eac8361540104bef1765a6b5d199065d','{"evidence_id": "e5", "opened": false, "skipped": false, "slot": 0}');
INSERT INTO "op" VALUES('default','default',6,'answer',NULL,'','');
INSERT INTO "op" VALUES('default','default',7,'forget',NULL,'','');
INSERT INTO "op" VALUES('default','default',8,'ingest',X'6B352030','f48bedad813fc501d3907b9231a5c7886673c913120e1019e96cb426348e7810','{"evidence_id": "e6", "opened": false, "skipped": false, "slot": 0}');
INSERT INTO "op" VALUES('default','default',9,'ingest',X'6B352031','3cdbe717d9806ab93d70b15b8db221cd52d0a8e7fc50be3fd2a66a652a70fa77','{"evidence_id": "e7", "opened": false, "skipped": false, "slot": 0}');
INSERT INTO "op" VALUES('default','default',10,'ingest',X'6B352032','7ee6dfeba770b873cc81ddc53f47a414cc7a3df8c22309871540495e4669ee72','{"evidence_id": "e8", "opened": false, "skipped": false, "slot": 0}');
INSERT INTO "op" VALUES('default','default',11,'hide',NULL,'','');
INSERT INTO "op" VALUES('default','default',12,'answer',NULL,'','');
INSERT INTO "op" VALUES('default','default',13,'feedback',X'6B38','5c7d6c1533b0c7828501bd9801e14bca3f9431baa780559f0804374b44ddf7aa','{"answer_id": "a2", "capped": false, "certificate": null, "channel": "reference", "counterfactuals": 0, "failed": null, "queued": 0, "remembered": null, "reward": 0.0, "rewards": {"scripted": 0.0, "scripted 2": 0.0}, "tested": 0}');
INSERT INTO "op" VALUES('default','default',14,'ingest',X'6B39','8166d53e694a780a7e398080de8d6f85e205b9dd033a43b4bf124094c15a7e0f','{"evidence_id": "e9", "opened": false, "skipped": false, "slot": 0}');
INSERT INTO "op" VALUES('default','default',15,'supersede',X'6B3130','d42fce66f408c9e704c4528489d873a97e389287fc9fdd4fe2c08682fc9a4244','{"after": 2, "confidence": 1.0, "how": "told", "id": "s7", "new": ["e5", 0, 25], "old": ["e7", 0, 31], "undone": false}');
INSERT INTO "op" VALUES('default','default',16,'supersede',X'6B3131','aa2212b5bbc041ff08cca84b7a8427b41fcd9499f4e8306a9e34995fccbcaf08','{"after": 2, "confidence": 1.0, "how": "told", "id": "s8", "new": ["e8", 0, 31], "old": ["e9", 0, 24], "undone": false}');
INSERT INTO "op" VALUES('default','default',17,'ingest',X'6B31322030','c1357e1efc0f3a450e6fcbf806a92c966bdd3a1d6bd89d6ad8395da994118fc4','{"evidence_id": "e10", "opened": false, "skipped": false, "slot": 0}');
INSERT INTO "op" VALUES('default','default',18,'ingest',X'6B31322031','6170c33c51b2e6806730eae0e7c6e8361909e7938d021cf5cd2af53c237a0ba8','{"evidence_id": "e11", "opened": false, "skipped": false, "slot": 0}');
INSERT INTO "op" VALUES('default','default',19,'ingest',X'6B31322032','2bf495f4922449066a4aff6c989ec33424296dfc6235f35595fe7787e03e0281','{"evidence_id": "e12", "opened": false, "skipped": false, "slot": 0}');
INSERT INTO "op" VALUES('default','default',20,'ingest',X'6B3133','4ec53f996e38857ddc866190cfd295c89f86c0a2697b44a8c81d9ee84ecca5d7','{"evidence_id": "e13", "opened": false, "skipped": false, "slot": 0}');
INSERT INTO "op" VALUES('default','default',21,'decide',X'6B3134','c226c0f860c0a1a2b59c69b98640e8695052baf88a983d427de7bf63bbe863b1','{"decision": "d1"}');
INSERT INTO "op" VALUES('default','default',22,'ingest',X'6B3135','6154780520f780fcbb3fd83fa3a494b63ba4e6bb0f29e3b596d6d97bee9dfa5e','{"evidence_id": "e14", "opened": false, "skipped": false, "slot": 0}');
INSERT INTO "op" VALUES('default','default',23,'forget',NULL,'','');
INSERT INTO "op" VALUES('default','default',24,'keep',NULL,'','');
INSERT INTO "op" VALUES('default','default',25,'forget',NULL,'','');
INSERT INTO "op" VALUES('default','default',26,'forget',NULL,'','');
INSERT INTO "op" VALUES('default','default',27,'supersede',X'6B3230','03bbb5a7009275f42632624d6d9ebea2d452835bc7b98a504bf5fe189dc14d11','{"after": 2, "confidence": 1.0, "how": "told", "id": "s9", "new": ["e10", 0, 29], "old": ["e3", 0, 25], "undone": false}');
INSERT INTO "op" VALUES('default','default',28,'update',X'6B3231','eebdd0e232af036ed0745c81b296e25b9d6abb25eb8005e1363c2f99f7f918b0','{"evidence_id": "e15", "replaced": "e14", "succession": "s10"}');
INSERT INTO "op" VALUES('default','default',29,'keep',NULL,'','');
INSERT INTO "op" VALUES('default','default',30,'answer',NULL,'','');
INSERT INTO "op" VALUES('default','default',31,'rename',NULL,'','');
CREATE TABLE situation (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    body TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
INSERT INTO "situation" VALUES('default','default',1,'{"asker":null,"conditions":[],"id":"x1","seen":21,"text":"a flaky test"}',X'513B0F3EC74759BE626FAE3C4BFB4A3D96B6033DF02D8C3BC6E8EE3E46B73BBE8C5DC43E5B56BDBE216C793D6E561E3FE20C2D3C471778BC956FC7BD33DC5EBC');
CREATE TABLE slot (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    parent INTEGER, revision INTEGER NOT NULL, total BLOB NOT NULL, summary BLOB NOT NULL,
    gate TEXT, name BLOB, pinned INTEGER NOT NULL DEFAULT 0, written TEXT,
    PRIMARY KEY (tenant, memory_id, number));
INSERT INTO "slot" VALUES('default','default',0,NULL,31,X'5D85793F06C2983FD7F3EABD6E353CBF145DB8BE62681640E65123C0F100AC3FCF621440302A47BD18E5A73F9A44A03EAE01833F8F6EE1BF50C5BCBCD47A00C0',X'2D20416E613A20746865207069616E6F206861732061206E6577206B657920320A2D207468652076696F6C696E20686173206120636F7070657220626F7720300A2D207468652076696F6C696E20686173206120636F7070657220626F7720310A2D207468652076696F6C696E20686173206120636F7070657220626F772032','[0,-0.7081471805599453,-3,0]',X'6E616D65206B3234',0,NULL);
CREATE TABLE succession (
    tenant TEXT NOT NULL, memory_id TEXT NOT NULL, number INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant, memory_id, number));
INSERT INTO "succession" VALUES('default','default',3,'{"after":0,"confidence":0.9091,"how":"found","id":"s3","new":["e5",0,25],"old":["e3",0,25],"undone":false}');
INSERT INTO "succession" VALUES('default','default',9,'{"after":2,"confidence":1.0,"how":"told","id":"s9","new":["e10",0,29],"old":["e3",0,25],"undone":false}');
INSERT INTO "succession" VALUES('default','default',10,'{"after":2,"confidence":1.0,"how":"updated","id":"s10","new":["e15",0,29],"old":["e14",0,25],"undone":false}');
CREATE UNIQUE INDEX op_by_key ON op (tenant, memory_id, op_key);
COMMIT;
PRAGMA application_id = 1147489637;
PRAGMA user_version = 9;
